"""Paired maps: the same places twice, one scale, moving together."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from dashboard.figures.paired_maps import paired_maps
from dashboard.figures.theme import LIGHT
from dashboard.layer_views import layer_views, measure
from tests.dashboard.documents import build_document, inspect_document, profile_document


def draw(*, latency: bool = False, **options: Any) -> go.Figure:
    inspection = inspect_document(60)
    built = build_document(inspection, speedup=0.5)
    before = layer_views(inspection, profile_document(inspection))
    after = layer_views(inspection, built["profile"]) if latency else None
    executed = {row["id"]: row["executed"] for row in built["layers"]}
    return paired_maps(before, inspection["layout"], measure("latency"), executed, LIGHT, after=after, **options)


def cells(figure: go.Figure, axis: str) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for trace in figure.data:
        if isinstance(trace, go.Bar) and trace.yaxis == axis:
            found.update(zip(trace.customdata, zip(trace.x, trace.base, strict=True), strict=True))
    return found


def test_a_layer_lies_at_the_same_place_in_both_maps() -> None:
    figure = draw()
    assert cells(figure, "y") == cells(figure, "y2")
    assert len(cells(figure, "y")) == 60


def test_moving_one_map_moves_the_other() -> None:
    layout = draw().layout
    assert layout.yaxis2.matches == "y"
    assert {layout.xaxis.matches, layout.xaxis2.matches} >= {"x2"} or layout.xaxis2.matches == "x"


def test_both_latencies_share_one_scale_that_reaches_the_larger() -> None:
    figure = draw(latency=True)
    inspection = inspect_document(60)
    slower = max(row["ms"] for row in build_document(inspection, speedup=0.5)["profile"]["layers"])
    assert figure.layout.coloraxis.cmax == slower
    hottest = LIGHT.heat[-1][1]
    hot = {trace.yaxis for trace in figure.data if isinstance(trace, go.Bar) and hottest in trace.marker.color}
    assert hot == {"y2"}, "this candidate is slower, so its map is the hotter one"


def test_the_selected_layer_is_framed_in_both() -> None:
    framed = [
        trace
        for trace in draw(selected="stem/conv").data
        if isinstance(trace, go.Scatter) and trace.line.color == LIGHT.accent
    ]
    assert {trace.yaxis for trace in framed} == {"y", "y2"}


def test_only_precisions_are_in_the_legend() -> None:
    shown = [trace.name for trace in draw().data if trace.showlegend is not False and isinstance(trace, go.Bar)]
    assert sorted(name.split(" (")[0] for name in shown) == ["F fp32", "I int8", "folded away"]
