"""The memory curve: every step at its height, the peak named, other figures as lines where they lie near."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from dashboard.figures.memory_curve import boxes_of, curve_steps, levels, memory_curve
from dashboard.figures.theme import DARK, LIGHT
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document

MEMORY: dict[str, Any] = deep_profile(inspect_document(60))["memory"]


def texts(figure: go.Figure) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def test_each_step_is_as_high_as_what_is_alive_in_one_unit() -> None:
    bars = memory_curve(MEMORY, LIGHT).data[0]
    assert list(bars.y * 1e3) == pytest.approx([step["bytes"] for step in MEMORY["steps"]])
    assert list(bars.customdata) == [step["layer"] for step in MEMORY["steps"]]
    assert memory_curve(MEMORY, LIGHT).layout.yaxis.title.text.startswith("KB ")


def test_the_peak_is_named_with_its_layer() -> None:
    figure = memory_curve(MEMORY, DARK)
    assert any(text.startswith("peak ") and MEMORY["peak_at"] in text for text in texts(figure))
    colors = dict(zip(figure.data[0].customdata, figure.data[0].marker.color, strict=True))
    assert [layer for layer, color in colors.items() if color == DARK.accent] == [MEMORY["peak_at"]]


@pytest.mark.parametrize("most", [1, 7, 59, 10_000])
def test_of_many_steps_the_highest_stay(most: int) -> None:
    steps = curve_steps(MEMORY["steps"], most)
    assert len(steps) <= most
    assert max(step.live_bytes for step in steps) == MEMORY["activation_peak_bytes"]
    assert [step.first for step in steps[1:]] == [step.last + 1 for step in steps[:-1]]
    assert steps[-1].last == len(MEMORY["steps"]) - 1


def test_lines_are_drawn_only_where_they_do_not_press_the_curve_flat() -> None:
    assert [name for name, _ in levels(MEMORY)] == ["planned, with reuse", "the runtime's arena"]
    near = texts(memory_curve(MEMORY, LIGHT))
    assert any(text.startswith("planned, with reuse ") for text in near)
    far = {**MEMORY, "arena_peak_bytes": MEMORY["activation_peak_bytes"] * 100, "planned_bytes": None}
    assert len(texts(memory_curve(far, LIGHT))) == 1


def test_the_chosen_layer_is_framed_and_so_is_what_it_holds_while_it_lives() -> None:
    holder = MEMORY["holders"][0]
    position = [step["layer"] for step in MEMORY["steps"]].index(holder["layer"]) + 1
    step, *life = boxes_of(MEMORY, holder["layer"])
    assert step[:2] == (position - 0.5, position + 0.5)
    assert step[3] * 1e3 == pytest.approx(MEMORY["steps"][position - 1]["bytes"])
    assert len(life) == 1
    assert life[0][0] == position - 0.5
    assert life[0][3] * 1e3 == pytest.approx(holder["bytes"])
    assert boxes_of(MEMORY, "unknown") == []


def test_among_many_steps_the_frame_is_that_of_the_step_that_holds_the_layer() -> None:
    steps = [{"layer": f"l{number}", "bytes": number} for number in range(5000)]
    (box,) = boxes_of({"steps": steps, "holders": []}, "l3001")
    assert box[0] <= 3002 <= box[1]
    assert box[1] - box[0] == 7


def test_a_profile_without_steps_draws_nothing_and_does_not_fail() -> None:
    assert len(memory_curve({"steps": None}, LIGHT).data[0].x) == 0
