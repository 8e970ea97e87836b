"""Folded modules: every layer has one place, links run to the right, and nothing is too crowded to be looked at."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.graph.folded import MOST_INSIDE, Module, fold_modules
from core.graph.layer import LayerTable
from core.graph.read import read_layers
from tests.graph.test_layout import table
from tests.intake.test_names import IF_MODEL
from tests.intake.texts import load


def named(paths: list[str], edges: list[tuple[int, int]] | None = None) -> LayerTable:
    """A chain of layers (or the graph of `edges`) with these module paths."""
    plain = table(len(paths), edges or [(n, n + 1) for n in range(len(paths) - 1)])
    layers = [
        replace(layer, module=tuple(filter(None, path.split("/"))))
        for layer, path in zip(plain.layers, paths, strict=True)
    ]
    return LayerTable(tuple(layers), plain.groups, plain.edges)


def by_path(found: tuple[Module, ...]) -> dict[str, Module]:
    modules = {module.path: module for module in found}
    assert len(modules) == len(found)
    return modules


def inside(module: Module) -> list[str]:
    return [str(part.layer if part.module is None else part.module) for part in module.inside]


def test_a_model_without_layers_has_one_empty_module() -> None:
    assert fold_modules(table(0, [])) == (Module("", "", "model", 0, ()),)


def test_modules_hold_modules_and_layers_in_graph_order() -> None:
    found = by_path(fold_modules(named(["stem", "a/x", "a/x", "a/y", "a/y", ""])))
    assert inside(found[""]) == ["0", "a", "5"]
    assert inside(found["a"]) == ["a/x", "a/y"]
    assert inside(found["a/x"]) == ["1", "2"]
    assert [found[path].layers for path in ("", "a", "a/x")] == [6, 4, 2]


def test_a_module_of_one_thing_gives_way_to_it() -> None:
    found = by_path(fold_modules(named(["net/stem", "net/body/only", "net/body/only"])))
    assert set(found) == {"", "net", "net/body/only"}
    assert found["net/body/only"].name == "body/only"
    assert inside(found["net"]) == ["0", "net/body/only"]


def test_what_is_inside_stands_from_left_to_right_and_side_by_side() -> None:
    found = by_path(fold_modules(named(["a", "b", "b", "c", "d"], [(0, 1), (1, 2), (0, 3), (2, 4), (3, 4)])))
    places = {name: (part.x, part.y) for name, part in zip(inside(found[""]), found[""].inside, strict=True)}
    assert places["0"][0] < places["b"][0] == places["3"][0] < places["4"][0]
    assert places["b"][1] != places["3"][1]


def test_modules_that_feed_each_other_are_laid_out_in_the_order_of_the_graph() -> None:
    found = by_path(fold_modules(named(["a", "b", "a", "b"])))
    assert [part.x for part in found[""].inside] == [0.0, 1.0]


@pytest.mark.parametrize("count", [MOST_INSIDE + 1, 1_000, 10_000])
def test_names_without_paths_are_bundled_into_stretches_until_nothing_is_crowded(count: int) -> None:
    found = by_path(fold_modules(named([""] * count)))
    assert all(len(module.inside) <= MOST_INSIDE for module in found.values())
    assert {module.kind for module in found.values()} == {"model", "stretch"}
    layers = [part.layer for module in found.values() for part in module.inside if part.layer is not None]
    assert sorted(map(int, layers)) == list(range(count))


def test_stretches_are_cut_where_the_fewest_values_cross() -> None:
    count = 200
    bridges = [(n, n + 2) for n in range(count - 2) if n // 20 == (n + 2) // 20]
    found = by_path(fold_modules(named([""] * count, [*((n, n + 1) for n in range(count - 1)), *bridges])))
    starts = [int(inside(module)[0]) for module in found.values() if module.kind == "stretch"]
    assert all(start % 20 == 0 for start in starts)
    assert len(starts) > 3


def test_a_small_module_is_not_bundled() -> None:
    assert len(fold_modules(named([""] * MOST_INSIDE))) == 1


def test_bodies_of_containers_are_modules_beside_their_container() -> None:
    modules = fold_modules(read_layers(load(IF_MODEL)))
    text = json.dumps([module.to_dict() for module in modules])
    assert "pick/then/act" in text
    assert any(module.kind == "body" or "pick" in inside(module) for module in modules)
    bodies = by_path(fold_modules(_two_layers_per_branch()))
    assert inside(bodies[""]) == ["pick", "(pick then)", "(pick else)"]
    assert bodies["(pick then)"].kind == "body"
    assert bodies["(pick then)"].name == "pick then"


def _two_layers_per_branch() -> LayerTable:
    plain = table(5, [(1, 2), (3, 4)])
    names = ("pick", "pick/then/a", "pick/then/b", "pick/else/a", "pick/else/b")
    scopes = ((), ("pick", "then"), ("pick", "then"), ("pick", "else"), ("pick", "else"))
    layers = [replace(layer, id=n, scope=s) for layer, n, s in zip(plain.layers, names, scopes, strict=True)]
    edges = tuple((names[int(source)], names[int(target)]) for source, target in plain.edges)
    return LayerTable(tuple(layers), plain.groups, edges)
