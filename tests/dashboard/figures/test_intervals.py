"""Ratio intervals: the line of no change is in view, only a difference wears the accent."""

from __future__ import annotations

import pytest

from dashboard.figures.intervals import RatioRow, ratio_bars
from dashboard.figures.theme import LIGHT

ROWS = [RatioRow("Latency", 2.84, (2.79, 2.88)), RatioRow("p95", 0.95, (0.8, 1.1)), RatioRow("Size", 3.6, None)]


def test_only_an_interval_without_one_wears_the_accent() -> None:
    dots = ratio_bars(ROWS, LIGHT).data[0]
    assert list(dots.marker.color) == [LIGHT.accent, LIGHT.muted, LIGHT.muted]


def test_the_interval_reaches_from_end_to_end() -> None:
    dots = ratio_bars(ROWS, LIGHT).data[0]
    assert dots.error_x.array[0] == pytest.approx(0.04)
    assert dots.error_x.arrayminus[0] == pytest.approx(0.05)
    assert dots.error_x.array[2] == 0


def test_no_change_and_every_interval_are_in_view() -> None:
    low, high = (10**end for end in ratio_bars(ROWS, LIGHT).layout.xaxis.range)
    assert low < min(1.0, *(end for row in ROWS if row.ci95 for end in row.ci95))
    assert high > max(row.value for row in ROWS)


def test_every_ratio_is_written_out() -> None:
    assert [text.strip() for text in ratio_bars(ROWS, LIGHT).data[1].text] == ["2.84x", "0.950x", "3.60x"]
