"""The time bar: its parts add up to the profiled run, each with its unit."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.figures.theme import DARK
from dashboard.figures.time_bar import time_bar
from tests.dashboard.documents import inspect_document, profile_document


def test_the_parts_add_up_to_the_profiled_run() -> None:
    profile = profile_document(inspect_document(60))
    parts = time_bar(profile, DARK).data
    assert sum(part.x[0] for part in parts) == pytest.approx(profile["instrumented_ms"])
    assert all(" ms" in part.name or " µs" in part.name for part in parts)


def test_parts_that_took_no_time_are_left_out() -> None:
    names = [part.name for part in time_bar(profile_document(inspect_document(60)), DARK).data]
    assert any(name.startswith("layout changes") for name in names)
    assert not any(name.startswith("casts") for name in names)


def test_a_profile_without_figures_draws_an_empty_bar() -> None:
    profile: dict[str, Any] = {"layers": [], "buckets": None, "gap_ms": None, "instrumented_ms": None}
    assert time_bar(profile, DARK).data == ()


def test_the_bar_says_what_its_shares_are_of() -> None:
    figure = time_bar(profile_document(inspect_document(60)), DARK)
    assert figure.layout.legend.title.text == "Time and share of the instrumented run:"
    assert all(part.hovertext.endswith(" % of the instrumented run") for part in figure.data)
    unknown = {**profile_document(inspect_document(60)), "instrumented_ms": None}
    figure = time_bar(unknown, DARK)
    assert not figure.layout.legend.title.text
    assert not any("%" in part.hovertext for part in figure.data)
