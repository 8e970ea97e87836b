"""Charts: one scale for all bars, nothing too small to see is lost, coordinates stay inside."""

from __future__ import annotations

import re

import pytest

from core.report.charts import Segment, bars, front, spread, time_bars


def widths(svg: str) -> list[float]:
    return [float(found) for found in re.findall(r'<rect x="[\d.]+" y="0" width="([\d.]+)"', svg)]


def test_bars_share_a_scale_and_say_their_sum() -> None:
    (before, long), (after, short) = time_bars(
        [("Before", [Segment(4.0, "p-fp32", "a")]), ("After", [Segment(1.0, "p-int8", "a")])]
    )
    assert (before, after) == ("Before · 4.00 ms", "After · 1.00 ms")
    assert widths(str(long))[0] == pytest.approx(4 * widths(str(short))[0], rel=0.01)


def test_layers_too_small_to_see_are_drawn_together() -> None:
    many = [Segment(1.0, "p-fp32", f"layer {i}") for i in range(10_000)]
    ((_, svg),) = time_bars([("Before", many)])
    drawn = widths(str(svg))
    assert len(drawn) < 1000
    assert sum(drawn) == pytest.approx(1000, rel=0.05)
    assert "more</title>" in svg


def test_titles_are_escaped() -> None:
    ((_, svg),) = time_bars([("Before", [Segment(1.0, "p-fp32", "<b>")])])
    assert "<title>&lt;b&gt;</title>" in svg


def test_no_time_is_no_chart() -> None:
    assert time_bars([("Before", [])]) == []


@pytest.mark.parametrize(("value", "side"), [(2.0, 1), (0.5, -1)])
def test_better_is_right_of_the_middle(value: float, side: int) -> None:
    found = spread(value, (0.9 * value, 1.1 * value), "better")
    assert found is not None
    assert (float(found.value) - 50) * side > 0
    assert 0 <= float(found.low) <= 100


def test_a_ratio_of_zero_has_no_place() -> None:
    assert spread(0.0, None) is None


def test_a_front_needs_two_timed_mixes() -> None:
    point = {"latency_ms": 1.0, "sqnr_db": 30.0, "bytes": 1, "accepted": True, "groups": 1}
    assert not front([point, {**point, "latency_ms": None}], chosen_bytes=1, required_db=None)
    drawn = front([point, {**point, "latency_ms": 2.0, "bytes": 2}], chosen_bytes=1, required_db=25.0)
    assert drawn.count('class="chosen"') == 1
    assert 'class="target"' in drawn


def test_equal_values_do_not_divide_by_zero() -> None:
    point = {"latency_ms": 1.0, "sqnr_db": 30.0, "bytes": 1, "accepted": True, "groups": 1}
    assert "nan" not in front([point, point], chosen_bytes=None, required_db=30.0)
    assert "nan" not in bars([("a", 0.0, "p-int8"), ("b", 0.0, "p-int8")], unit="dB")
