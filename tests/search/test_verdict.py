"""Why a mix is refused after the one look at the holdout: with what it came to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from core.measure.target import Judgement, TargetVerdict, parse_target
from core.search.verdict import _refusal

FASTER: Any = SimpleNamespace(latency=SimpleNamespace(trustworthy=True, ci95=(1.2, 1.3), ratio=1.25))


def judged(text: str, required: float, value: float | None, *, bound: float | None = None) -> TargetVerdict:
    (condition,) = parse_target(text).conditions
    return TargetVerdict(text, (Judgement(condition, required, value, bound, met=False, samples=40),))


@pytest.mark.parametrize(
    ("verdict", "figures"),
    [
        (judged("sqnr>=25", 25.0, 24.9), "24.9 dB of 25"),
        (judged("sqnr>=25", 25.0, 24.96), "24.96 dB of 25"),
        (judged("agreement>=99%", 0.99, 0.975), "97.5 % of 99"),
        (judged("accuracy>=99%", 0.891, 0.9, bound=0.88), "90 %, of which 88.0 % is sure"),
    ],
)
def test_a_target_that_was_missed_on_the_holdout_is_told_with_what_was_reached(
    verdict: TargetVerdict, figures: str
) -> None:
    why = _refusal(FASTER, verdict, searched=True)
    expected = f"kept {verdict.text} on the evaluation samples but missed it on the holdout: {figures}."
    assert why == f"The best mix {expected}"
    asked = _refusal(FASTER, verdict, searched=False)
    assert asked == f"The mix that was asked for missed {verdict.text} on the holdout: {figures}."


def test_where_nothing_was_measured_no_figure_is_told() -> None:
    why = _refusal(FASTER, judged("sqnr>=25", 25.0, None), searched=True)
    assert why == "The best mix kept sqnr>=25 on the evaluation samples but missed it on the holdout."
