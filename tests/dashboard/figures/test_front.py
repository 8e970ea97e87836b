"""The front: what keeps the target, what was taken, and a line through what nothing beats."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from dashboard.figures.front import front
from dashboard.figures.theme import LIGHT


def point(latency_ms: float | None, sqnr_db: float, size: int, *, accepted: bool = True) -> dict[str, Any]:
    return {"latency_ms": latency_ms, "sqnr_db": sqnr_db, "bytes": size, "accepted": accepted, "groups": 3}


POINTS = [
    point(0.5, 40, 10),
    point(1.0, 55, 20),
    point(0.9, 35, 30),
    point(0.4, 12, 40, accepted=False),
    point(None, 60, 50),
]


def trace(name: str, **options: Any) -> go.Scatter:
    (found,) = [trace for trace in front(POINTS, LIGHT, **options).data if trace.name == name]
    return found


def test_the_line_goes_through_the_mixes_that_nothing_beats() -> None:
    line = front(POINTS, LIGHT).data[0]
    assert list(zip(line.x, line.y, strict=True)) == [(0.5, 40), (1.0, 55)]


def test_a_mix_that_misses_the_target_is_hollow_and_never_on_the_line() -> None:
    missed = trace("misses the target")
    assert list(missed.x) == [0.4]
    assert missed.marker.color == "rgba(0,0,0,0)"


def test_a_mix_that_was_not_timed_is_left_out() -> None:
    assert len(trace("keeps the target").x) == 3


def test_the_mix_that_was_taken_is_ringed() -> None:
    assert list(trace("taken", chosen_bytes=10).x) == [0.5]
    assert not trace("taken").showlegend


def test_a_hover_has_every_figure_with_its_unit() -> None:
    assert trace("keeps the target").hovertext[0] == "3 groups lowered<br>0.500 ms<br>40.0 dB<br>10 B"


def test_without_points_an_empty_front_is_drawn() -> None:
    assert all(len(trace.x or ()) == 0 for trace in front([], LIGHT).data)
