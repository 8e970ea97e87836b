"""Targets as a page tells them: reached and needed in the unit of the metric, never a bare number."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.target_view import target_view
from tests.dashboard.documents import comparison_document, target_document


def condition(**fields: Any) -> str:
    judged = {"met": True, "bound": None, "required": None, "samples": 400, **fields}
    view = target_view({"target": {"text": "t", "met": judged["met"], "each": [judged]}})
    assert view is not None
    return view.conditions[0]


def test_a_met_target_says_what_was_reached_needed_and_how_sure_it_is() -> None:
    view = target_view({"target": target_document()})
    assert view is not None
    assert view.met
    assert view.conditions == (
        (
            "accuracy 99.8 %; needed 98.8 % (99 % of the original's 99.8 %); "
            "surely at least 97.9 % (95 % bound, 400 samples)"
        ),
    )


def test_what_is_needed_is_a_share_of_the_original_only_where_the_target_says_so() -> None:
    told = condition(metric="agreement", text="agreement>=99%", value=0.995, required=0.99)
    assert told == "agreement 99.5 %; needed 99.0 %"


def test_a_size_is_exact_and_has_no_bound() -> None:
    assert condition(metric="size", value=3e6, bound=3e6, required=4e6) == "size 3.00 MB; needed 4.00 MB"


def test_the_gate_of_a_comparison_is_read_too() -> None:
    gate = {"text": "sqnr>=30", "met": False, "broken": ["sqnr>=30"], "each": []}
    view = target_view({"comparison": {**comparison_document(), "gate": gate}})
    assert view is not None
    assert (view.text, view.met) == ("sqnr>=30", False)


def test_without_a_target_there_is_nothing_to_tell() -> None:
    assert target_view({"comparison": comparison_document()}) is None
    assert target_view({}) is None


@pytest.mark.parametrize(
    ("metric", "value", "text"),
    [
        ("agreement", 0.994, "agreement 99.4 %"),
        ("sqnr", 31.4, "sqnr 31.4 dB"),
        ("latency", 0.93, "latency 0.930 ms"),
        ("size", 3_100_000, "size 3.10 MB"),
        ("speedup", 2.84, "speedup 2.84x"),
    ],
)
def test_every_metric_has_its_unit(metric: str, value: float, text: str) -> None:
    assert condition(metric=metric, value=value) == text


def test_a_bound_of_something_that_should_be_small_is_an_upper_one() -> None:
    assert "at most 1.10 ms" in condition(metric="latency", value=1.0, bound=1.1)


def test_a_condition_that_could_not_be_measured_says_why() -> None:
    assert condition(metric="accuracy", value=None, met=False, why="no labels") == "accuracy not known: no labels"
    assert condition(metric="sqnr", value=9.0, met=False, why="too coarse") == "sqnr 9.00 dB: too coarse"
