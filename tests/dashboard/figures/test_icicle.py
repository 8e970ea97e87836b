"""The icicle: the areas of the treemap in the order of the graph."""

from __future__ import annotations

import plotly.graph_objects as go
import pytest

from dashboard.figures.icicle import icicle
from dashboard.figures.theme import DARK
from dashboard.figures.treemap import treemap
from dashboard.layer_views import layer_views, measure
from tests.dashboard.documents import inspect_document, profile_document

INSPECTION = inspect_document(60)
VIEWS = layer_views(INSPECTION, profile_document(INSPECTION))


def test_it_shows_what_the_treemap_shows() -> None:
    flat = icicle(VIEWS, measure("latency"), DARK, title="digits").data[0]
    nested = treemap(VIEWS, measure("latency"), DARK, title="digits").data[0]
    assert dict(zip(flat.ids, flat.values, strict=True)) == dict(zip(nested.ids, nested.values, strict=True))
    assert flat.sort is False


def test_layers_stand_in_the_order_of_the_graph() -> None:
    flat = icicle(VIEWS, measure("macs"), DARK, title="digits").data[0]
    layers = [area[2:] for area in flat.ids if area.startswith("l:")]
    assert layers == [view.id for view in VIEWS if view.macs]


@pytest.mark.parametrize("draw", [treemap, icicle])
def test_it_can_begin_inside_a_module(draw: object) -> None:
    assert callable(draw)
    figure = draw(VIEWS, measure("latency"), DARK, title="digits", inside=("stage1", "block0"))
    assert isinstance(figure, go.Figure)
    assert figure.data[0].level == "m:stage1/block0"
    beyond = draw(VIEWS, measure("latency"), DARK, title="digits", inside=("stage1", "block0", "gone"))
    assert beyond.data[0].level == "m:stage1/block0"
    away = draw(VIEWS, measure("latency"), DARK, title="digits", inside=("gone",))
    assert away.data[0].level is None
