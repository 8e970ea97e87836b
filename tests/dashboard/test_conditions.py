"""Conditions in words, and doubts about figures from elsewhere."""

from __future__ import annotations

from typing import Any

import core
from core.runtime.conditions import Conditions
from dashboard.conditions import doubts, moment, sentence
from tests.dashboard.documents import CONDITIONS

HERE = Conditions(**{**CONDITIONS, "features": tuple(CONDITIONS["features"])})


def measured(**changes: Any) -> dict[str, Any]:
    return {"mixdesk": core.__version__, "conditions": {**CONDITIONS, **changes}}


def test_the_sentence_says_under_what_was_measured() -> None:
    told = sentence(CONDITIONS)
    for part in ("AMD EPYC 7B13", "1 thread", "batch 1", "onnxruntime 1.32.0 CPU", "load 0.21", "5 Jan 2026 10:11 UTC"):
        assert part in told
    assert "2 threads" in sentence({**CONDITIONS, "threads": 2})


def test_no_conditions_are_said_to_be_unknown() -> None:
    assert sentence(None) == "Conditions not known"


def test_a_time_that_cannot_be_read_is_left_out() -> None:
    assert moment("yesterday") == ""
    assert moment(None) == ""


def test_figures_from_here_are_not_doubted() -> None:
    assert doubts(measured(), HERE) == ()
    assert doubts({"conditions": None}, HERE) == ()


def test_another_machine_another_runtime_or_a_busy_machine_are_doubts() -> None:
    assert "another machine" in doubts(measured(machine="other"), HERE)[0]
    assert "onnxruntime 1.0" in doubts(measured(onnxruntime="1.0"), HERE)[0]
    assert "busy" in doubts(measured(load_average=7.0), HERE)[0]
    assert "Mixdesk 0.0.1" in doubts({**measured(), "mixdesk": "0.0.1"}, HERE)[0]
