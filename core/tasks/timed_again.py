"""Timed again: whether a bundle's speed-up can be judged here and now, and how its target is judged where it cannot.

A busy machine times badly, then as now: what is measured on one says little, so it decides nothing. Where two calm
measurements differ, the pair is measured once more: an interval covers the variation within one measurement only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.measure.compare import Comparison
from core.measure.latency import PairedLatency
from core.measure.target import TIMED, Target
from core.report import quantities
from core.report.agreement import overlap, stored_speedup

_BUSY_NOW = "the machine was too busy to time well"
_BUSY_THEN = "the machine was too busy to time well when the report was measured"


@dataclass(frozen=True, slots=True)
class TimedAgain:
    """The comparison that is judged, why its speed is not (None: it is), and what to say of how it was timed."""

    comparison: Comparison
    unjudged: str | None
    notes: tuple[str, ...]


def timed_again(report: Mapping[str, Any], first: Comparison, again: Callable[[], PairedLatency]) -> TimedAgain:
    """Decides whether the speed-up can be judged; measures once more where two calm measurements differ.

    Args:
        report: the bundle's.
        first: what was measured now.
        again: times the pair once more, in fresh processes.
    """
    stored = stored_speedup(report)
    unjudged = _unjudged(stored, first.latency)
    if unjudged is not None:
        return TimedAgain(first, unjudged, (_unjudged_note(unjudged),))
    if stored is None or overlap(stored, first.latency.to_dict()):
        return TimedAgain(first, None, ())
    second = again()
    both = replace(first, latency=first.latency.spanning(second))
    told = (
        f"The speed-up was measured twice, since the first interval did not overlap with the report's: "
        f"{_told(first.latency)}, then {_told(second)}. It is judged by the interval that spans both, "
        f"{quantities.ratio_range(both.latency.ci95)}."
    )
    unjudged = _unjudged(stored, both.latency)
    return TimedAgain(both, unjudged, (told,) if unjudged is None else (told, _unjudged_note(unjudged)))


def judged_target(target: Target, found: TimedAgain) -> tuple[dict[str, Any], bool | None]:
    """The `target` object of the document, and whether it is met: None where no condition can be judged.

    Conditions on time are not judged where the speed-up is not: their `met` is null, with the reason.

    Raises:
        TargetError: this data and model cannot answer it.
    """
    if found.unjudged is None:
        verdict = found.comparison.judge(target)
        return verdict.to_dict(), verdict.met
    whole = found.comparison.judge(target)
    rows = [judgement.to_dict() for judgement in whole.judgements]
    why = f"not judged: {found.unjudged}"
    each = [{**row, "met": None, "why": why} if row["metric"] in TIMED else row for row in rows]
    judged = [row for row in each if row["met"] is not None]
    met = all(row["met"] for row in judged) if judged else None
    ruling = next((row for row in judged if not row["met"]), (judged or each)[0])
    return {**ruling, "text": target.text, "met": met, "each": each}, met


def _unjudged(stored: Mapping[str, Any] | None, now: PairedLatency) -> str | None:
    if not now.trustworthy:
        return _BUSY_NOW
    return _BUSY_THEN if stored is not None and stored.get("trustworthy") is False else None


def _unjudged_note(why: str) -> str:
    return f"The speed-up could not be judged: {why}. It decides nothing here; verify again on a calm machine."


def _told(latency: PairedLatency) -> str:
    return f"{quantities.ratio(latency.ratio)} [{quantities.ratio_range(latency.ci95)}]"
