"""The treemap: areas add up, a click can be read back, names are not markup."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from dashboard.figures.areas import layer_of_area
from dashboard.figures.theme import LIGHT
from dashboard.figures.treemap import treemap
from dashboard.layer_views import layer_views, measure
from tests.dashboard.documents import inspect_document, profile_document


def draw(prefix: str = "", missing: float = 0.0) -> go.Treemap:
    inspection = inspect_document(60, prefix=prefix)
    views = layer_views(inspection, profile_document(inspection, missing=missing))
    return treemap(views, measure("latency"), LIGHT, title="digits").data[0]


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_every_module_is_as_large_as_what_it_holds(missing: float) -> None:
    trace = draw(missing=missing)
    value = dict(zip(trace.ids, trace.values, strict=True))
    parts: dict[str, float] = {}
    for area, parent in zip(trace.ids, trace.parents, strict=True):
        parts[parent] = parts.get(parent, 0.0) + value[area]
    for parent, total in parts.items():
        if parent:
            assert total == pytest.approx(value[parent], rel=1e-9)
    assert trace.parents.count("") == 1


def test_every_parent_exists_and_ids_are_unique() -> None:
    trace = draw()
    assert len(set(trace.ids)) == len(trace.ids)
    assert set(trace.parents) - {""} <= set(trace.ids)


def test_a_clicked_layer_is_read_back_and_a_module_is_not() -> None:
    assert layer_of_area("l:stage1/block0/conv1") == "stage1/block0/conv1"
    assert layer_of_area("m:stage1") is None
    assert layer_of_area(None) is None


def test_all_areas_share_one_line_since_the_path_bar_is_not_drawn_otherwise() -> None:
    trace = draw()
    assert isinstance(trace.marker.line.width, float)
    assert isinstance(trace.marker.line.color, str)
    assert trace.pathbar.visible


def test_markup_in_names_stays_text() -> None:
    trace = draw(prefix="<b>x</b>/")
    assert not any("<b>x" in label for label in trace.labels)


def test_layers_without_time_have_no_area() -> None:
    assert not any(area.endswith("relu1") for area in draw().ids)
