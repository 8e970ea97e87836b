"""Areas: of many layers the largest stand alone, and what the others take stays in sight and adds up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.figures.area_tree import Path
from dashboard.figures.areas import CLOSED, LAYER, REST, ROOT, Area, area_of, areas, module_of, module_of_area
from dashboard.figures.theme import DARK, LIGHT
from dashboard.layer_views import LayerView, layer_views, measure
from tests.dashboard.documents import inspect_document, profile_document


def views(layers: int = 200) -> tuple[LayerView, ...]:
    inspection = inspect_document(layers)
    return layer_views(inspection, profile_document(inspection))


def children(found: list[Area], parent: str) -> float:
    return sum(area.value for area in found if area.parent == parent)


@pytest.mark.parametrize("most", [1, 2, 20, 60, 10_000])
@pytest.mark.parametrize("inside", [(), ("stage3", "block18")])
def test_the_whole_is_the_same_however_many_areas_there_are(most: int, inside: Path) -> None:
    layers = views()
    found = areas(layers, measure("latency"), LIGHT, title="digits", most=most, inside=inside)
    total = sum(view.ms or 0.0 for view in layers)
    assert found[0].id == ROOT
    assert found[0].value == pytest.approx(total)
    for area in found:
        if area.id.startswith("m:"):
            assert children(found, area.id) == pytest.approx(area.value, rel=1e-9)
    assert len(found) <= max(most, 2)
    assert len({area.id for area in found}) == len(found)
    if most == 10_000:
        assert sum(1 for area in found if area.id.startswith(LAYER)) == sum(1 for view in layers if view.ms)


def test_small_layers_are_counted_in_their_module() -> None:
    found = areas(views(), measure("latency"), LIGHT, title="digits", most=20)
    rests = [area for area in found if area.id.startswith(REST)]
    assert rests
    ids = {area.id for area in found}
    assert all(area.parent in ids for area in rests)
    assert all("small layer" in area.label for area in rests)


def test_of_two_modules_the_larger_is_opened_and_the_other_tells_how_many_layers_it_has() -> None:
    one = replace(views(12)[0], macs=1.0)
    sizes = {"large": 5.0, "small": 1.0}
    two = [
        replace(one, id=f"{module}/{number}", module=(module,), macs=size)
        for module, size in sizes.items()
        for number in range(4)
    ]
    found = {area.id: area for area in areas(two, measure("macs"), LIGHT, title="t", most=8)}
    assert {"m:large", "c:small"} <= set(found)
    assert "4 layers" in found["c:small"].hover
    assert area_of(two[-1], list(found)) == "c:small"
    near = {area.id for area in areas(two, measure("macs"), LIGHT, title="t", most=8, inside=("small",))}
    assert {"c:large", "m:small"} <= near


def test_a_click_on_a_closed_module_or_on_small_layers_names_their_module() -> None:
    assert module_of_area("c:stage1/block0") == ("stage1", "block0")
    assert module_of_area("r:") == ()
    assert module_of_area("m:stage1") is None
    assert module_of_area(None) is None


def test_the_area_of_a_small_layer_is_the_one_that_it_is_a_part_of() -> None:
    layers = views()
    ids = [area.id for area in areas(layers, measure("latency"), LIGHT, title="digits", most=20)]
    shown = [area_of(view, ids) for view in layers if view.ms]
    assert None not in shown
    assert {str(area)[:2] for area in shown} >= {CLOSED, REST}


def test_a_layer_alone_in_its_module_stands_in_the_one_around_it() -> None:
    inspection = inspect_document(30)
    for row in inspection["layers"]:
        row["module"] = [*row["module"], row["id"].rpartition("/")[2]]
    found = areas(layer_views(inspection, profile_document(inspection)), measure("latency"), LIGHT, title="digits")
    parents = {area.id: area.parent for area in found}
    labels = {area.id: area.label for area in found}
    assert parents["l:stage1/block0/conv1"] == "m:stage1/block0"
    assert labels["l:stage1/block0/conv1"] == "conv1"
    assert module_of(("stage1", "block0", "conv1"), list(parents)) == "m:stage1/block0"
    assert module_of(("elsewhere",), list(parents)) is None


@pytest.mark.parametrize(
    ("layer", "module", "op", "label"),
    [
        ("blocks.1.expand", ("blocks", "1"), "Conv", "expand"),
        ("/encoder/0/attn/MatMul", ("encoder", "0"), "MatMul", "attn"),
        ("/encoder/0/MatMul", ("encoder", "0"), "MatMul", "MatMul"),
        ("lone", ("elsewhere",), "Add", "lone"),
    ],
)
def test_an_area_is_called_what_its_module_does_not_say(layer: str, module: Path, op: str, label: str) -> None:
    view = replace(views(12)[0], module=module, op=op)
    two = [replace(view, id=layer), replace(view, id=f"{layer}x")]
    found = {area.id: area.label for area in areas(two, measure("macs"), LIGHT, title="t")}
    assert found[f"l:{layer}"] == label


def test_a_layer_of_a_model_that_took_no_time_has_no_area() -> None:
    inspection = inspect_document(12)
    found = areas(layer_views(inspection), measure("latency"), DARK, title="digits")
    assert [area.id for area in found] == [ROOT]
    assert area_of(layer_views(inspection)[0], [area.id for area in found]) is None
