"""The timeline: one bar per kernel at its time, each kind with its own look, gaps behind them."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dashboard.figures.theme import DARK, LIGHT
from dashboard.figures.timeline import MOST_BOXES, boxes_of, timeline_chart
from tests.dashboard.deep_profile import deep_profile, kernel
from tests.dashboard.documents import inspect_document

DOCUMENT = deep_profile(inspect_document(60))
TIMELINE = DOCUMENT["timeline"]


def traces(figure: go.Figure) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data}


def test_the_bars_of_a_run_add_up_to_its_kernels() -> None:
    found = traces(timeline_chart(TIMELINE, LIGHT))
    for name, bucket in (("layers", None), ("layout changes", "reorder")):
        areas = np.array(found[name].x) * np.array(found[name].width) / 0.78
        assert areas.sum() == pytest.approx(sum(k["ms"] for k in TIMELINE["kernels"] if k["bucket"] == bucket))
    assert found["between kernels"].x[0] == pytest.approx(TIMELINE["ms"])


def test_a_bar_names_its_layer_and_a_bucket_names_none() -> None:
    found = traces(timeline_chart(TIMELINE, LIGHT))
    timed = {row["id"] for row in DOCUMENT["layers"] if row["ms"]}
    assert set(found["layers"].customdata) <= timed
    assert set(found["layout changes"].customdata) == {""}
    assert all(" ms" in text or " µs" in text for text in found["layers"].hovertext)


def test_every_kind_has_its_own_look_beside_its_colour() -> None:
    rows = [kernel("x", "Cast", n, 0.5, bucket=bucket) for n, bucket in enumerate(["quantize", "cast", "copy"])]
    found = traces(timeline_chart({"ms": 4.0, "kernels": rows, "omitted": 0}, DARK))
    looks = {trace.marker.pattern.shape for name, trace in found.items() if name != "between kernels"}
    assert len(looks) == 3


def test_a_short_window_is_told_in_microseconds() -> None:
    figure = timeline_chart(TIMELINE, LIGHT, window=(1.0, 1.2))
    assert figure.layout.xaxis.title.text == "µs since the run began"
    assert list(figure.layout.xaxis.range) == [1000.0, 1200.0]


def test_the_chosen_layer_is_framed_at_each_of_its_runs() -> None:
    rows = [kernel("add", "Add", n, 0.5, layers=["loop/add"], container="loop") for n in range(5)]
    rows.append(kernel("loop", "Loop", 0.0, 0.1, layers=["loop"], span_ms=5.0))
    run = {"ms": 5.0, "kernels": rows, "omitted": 0}
    boxes = boxes_of(run, "loop/add")
    assert sorted(box[:2] for box in boxes) == [(n, n + 0.5) for n in range(5)]
    assert all(0.5 < box[2] < 0.61 and 1.39 < box[3] < 1.5 for box in boxes), "in the lane below its container"
    assert sorted(box[:2] for box in boxes_of(run, "loop/add", window=(1.2, 2.1))) == [(1.2, 1.5), (2.0, 2.1)]
    assert list(timeline_chart(run, LIGHT).layout.yaxis.ticktext) == ["the graph", "inside a container"]


def test_frames_are_in_the_unit_of_the_axis_and_not_thousands() -> None:
    rows = [kernel("add", "Add", n * 1e-4, 5e-5, layers=["add"]) for n in range(1000)]
    boxes = boxes_of({"ms": 0.1, "kernels": rows, "omitted": 0}, "add")
    assert len(boxes) == MOST_BOXES
    assert boxes[0][1] - boxes[0][0] == pytest.approx(0.05)


def test_markup_in_names_stays_text() -> None:
    rows = [kernel("<b>x</b>", "Add", 0.0, 0.5, layers=["<i>y</i>"])]
    hover = traces(timeline_chart({"ms": 1.0, "kernels": rows, "omitted": 0}, LIGHT))["layers"].hovertext[0]
    assert "&lt;b&gt;x" in hover
    assert "<i>" not in hover


def test_a_run_without_kernels_draws_no_bars() -> None:
    assert list(traces(timeline_chart({"ms": 0.0, "kernels": [], "omitted": 0}, LIGHT))) == ["between kernels"]


def test_ten_thousand_kernels_are_sent_in_less_than_two_megabytes() -> None:
    rows = [kernel(f"a/long/module/path/{n}", "Add", n * 0.01, 0.008, layers=[f"layer{n}"]) for n in range(10_000)]
    figure = timeline_chart({"ms": 100.0, "kernels": rows, "omitted": 0}, LIGHT)
    assert len(figure.to_json()) < 2_000_000
    assert "kernels" in traces(figure)["layers"].hovertext[0]
