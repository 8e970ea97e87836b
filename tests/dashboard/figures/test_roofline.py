"""The roofline chart: points where the figures say, roofs where the machine says, the chosen layer ringed."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from dashboard.figures.roofline import Slope, hover, placed, ridge, roofline_chart, slopes
from dashboard.figures.theme import DARK, LIGHT
from dashboard.layer_views import layer_views
from tests.dashboard.deep_profile import ROOFLINE, deep_profile
from tests.dashboard.documents import inspect_document

INSPECTION = inspect_document(60)
VIEWS = layer_views(INSPECTION, deep_profile(INSPECTION))
BY_ID = {view.id: view for view in VIEWS}


def points(figure: go.Figure) -> dict[str, tuple[float, float]]:
    return {
        layer: (x, y)
        for trace in figure.data
        if trace.customdata is not None
        for layer, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }


def lines(figure: go.Figure) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if "lines" in trace.mode}


@pytest.mark.parametrize("by", ["limit", "precision"])
def test_every_layer_that_computes_lies_where_its_figures_say(by: Any) -> None:
    found = points(roofline_chart(VIEWS, ROOFLINE, LIGHT, by=by))
    assert set(found) == {view.id for view in VIEWS if view.macs and view.ms}
    for layer, (x, y) in found.items():
        assert (x, y) == (BY_ID[layer].intensity, BY_ID[layer].gflops)


def test_layers_that_do_not_compute_have_no_place() -> None:
    assert not any(view.op == "Relu" for view in placed(VIEWS))


def test_roofs_meet_at_the_ridge() -> None:
    found = lines(roofline_chart(VIEWS, ROOFLINE, DARK))
    slope = found["memory 12.0 GB/s"]
    assert slope.y[0] == pytest.approx(12.0 * slope.x[0])
    assert slope.x[1] == pytest.approx(240.0 / 12.0), "it ends at the highest peak"
    flat = found["F fp32 at most 90.0 GFLOP/s"]
    assert list(flat.y) == [90.0, 90.0]
    assert flat.x[0] == pytest.approx(ridge(90.0, Slope("memory", 12.0)))


def test_a_cache_has_a_roof_of_its_own_where_it_is_twice_as_fast() -> None:
    caches = [{"bytes": 30_000, "gbytes_per_s": 100.0}, {"bytes": 1_000_000, "gbytes_per_s": 20.0}]
    found = slopes({**ROOFLINE, "caches": caches})
    assert [slope.name for slope in found] == ["memory", "working sets up to 30.0 KB"]


def test_without_roofs_the_layers_are_still_shown() -> None:
    figure = roofline_chart(VIEWS, None, LIGHT)
    assert not lines(figure)
    assert points(figure)


def test_groups_differ_in_their_symbol_as_well() -> None:
    figure = roofline_chart(VIEWS, None, LIGHT, by="precision")
    assert len({trace.marker.symbol for trace in figure.data}) == len(figure.data) == 2


def test_the_larger_point_took_longer() -> None:
    figure = roofline_chart(VIEWS, None, LIGHT, by="limit")
    sizes = {
        layer: size for trace in figure.data for layer, size in zip(trace.customdata, trace.marker.size, strict=True)
    }
    ordered = sorted(sizes, key=lambda layer: BY_ID[layer].ms or 0.0)
    assert [sizes[layer] for layer in ordered] == sorted(sizes.values())


def test_the_chosen_layer_is_ringed_and_told_in_words() -> None:
    figure = roofline_chart(VIEWS, ROOFLINE, LIGHT, selected="stem/conv")
    ring = figure.data[-1]
    assert (ring.x[0], ring.y[0]) == (BY_ID["stem/conv"].intensity, BY_ID["stem/conv"].gflops)
    told = hover(BY_ID["stem/conv"])
    assert " % of what this machine can reach" in told
    assert "FLOP/B" in told
    assert len(roofline_chart(VIEWS, ROOFLINE, LIGHT, selected="stem/relu").data) == len(figure.data) - 1


def test_a_model_without_times_draws_only_roofs() -> None:
    assert not points(roofline_chart(layer_views(INSPECTION), ROOFLINE, LIGHT))
