"""Unfold: collapsed modules are one cell each, open ones give way to what is inside, and links follow."""

from __future__ import annotations

from typing import Any

import pytest

from core.graph.folded import fold_modules
from core.graph.layout import lay_out
from dashboard.figures.fold import fold_layout
from dashboard.figures.unfold import MODULE, Nest, Shown, count_cells, opened_to, read_nest, unfold
from tests.graph.test_folded import named

PATHS = ["stem", "a/x", "a/x", "a/y", "a/y", "b", "b", ""]


def document(paths: list[str]) -> dict[str, Any]:
    table = named(paths)
    return {
        "layers": [{"id": layer.id} for layer in table],
        "layout": lay_out(table).to_dict(),
        "folded": {"modules": [module.to_dict() for module in fold_modules(table)]},
    }


def nest(paths: list[str] | None = None) -> Nest:
    found = read_nest(document(paths or PATHS))
    assert found is not None
    return found


def shown(*opened: str) -> Shown:
    return unfold(nest(), document(PATHS)["layout"]["edges"], opened)


def cells(found: Shown) -> list[str]:
    return [node["layer"] for node in sorted(found.layout["nodes"], key=lambda node: node["x"])]


def test_at_first_modules_stand_where_their_layers_were() -> None:
    assert cells(shown()) == ["0", f"{MODULE}a", f"{MODULE}b", "7"]
    assert shown().layout["edges"] == [["0", f"{MODULE}a"], [f"{MODULE}a", f"{MODULE}b"], [f"{MODULE}b", "7"]]


def test_an_open_module_gives_way_to_what_is_inside() -> None:
    assert cells(shown("a")) == ["0", f"{MODULE}a/x", f"{MODULE}a/y", f"{MODULE}b", "7"]
    assert cells(shown("a", "a/y")) == ["0", f"{MODULE}a/x", "3", "4", f"{MODULE}b", "7"]
    places = [node["x"] for node in shown("a", "a/y").layout["nodes"]]
    assert len(set(places)) == len(places), "each stands in a column of its own"


def test_inside_a_collapsed_module_nothing_is_open() -> None:
    assert cells(shown("a/x")) == cells(shown())


def test_every_layer_knows_its_cell() -> None:
    found = shown("a")
    assert found.cell_of["3"] == f"{MODULE}a/y"
    assert found.cell_of["0"] == "0"
    assert set(found.cell_of) == {str(n) for n in range(len(PATHS))}


def test_with_everything_open_there_are_the_layers_alone() -> None:
    found = unfold(nest(), document(PATHS)["layout"]["edges"], frozenset(nest().modules))
    assert cells(found) == [str(n) for n in range(len(PATHS))]
    assert not found.modules


@pytest.mark.parametrize("level", [0, 1, 2])
def test_cells_are_counted_without_drawing_them(level: int) -> None:
    opened = opened_to(nest(), level)
    assert count_cells(nest(), opened) == len(shown(*opened).layout["nodes"])
    assert count_cells(nest(), {"a/x"}) == 4


def test_documents_of_older_versions_have_no_modules_to_open() -> None:
    assert read_nest({"layers": [{"id": "0"}], "layout": {}}) is None
    assert read_nest(document(["", "", ""])) is None


def test_a_long_model_can_be_folded_with_modules_collapsed() -> None:
    paths = [f"s{n // 72}/b{n // 6}" for n in range(1_000)]
    found = unfold(nest(paths), document(paths)["layout"]["edges"], opened_to(nest(paths), 1))
    fold = fold_layout(found.layout, width=720, height=380)
    assert len(fold.places) == len(set(fold.places.values())) == count_cells(nest(paths), opened_to(nest(paths), 1))
