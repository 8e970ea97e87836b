"""Shortfall: where a candidate that had to keep nothing lies below what Auto-mix keeps when it is told no target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import TargetError
from core.measure.target import WITH_LABELS, WITHOUT_FLOATS, WITHOUT_LABELS, parse_target
from core.report.summary import comparison_of, target_of

_OF_OUTPUTS = frozenset({"accuracy", "agreement", "sqnr"})


@dataclass(frozen=True, slots=True)
class Shortfall:
    """The metric of the default target that is missed, and what to say beside its figure."""

    metric: str
    text: str


def shortfall(document: Mapping[str, Any]) -> Shortfall | None:
    """None where the default target is kept, cannot be judged, or another one was set on what comes out.

    Args:
        document: a candidate's `build` or `optimize` document, or a `compare` document.
    """
    if _has_own_target(document):
        return None
    compared = comparison_of(document) or {}
    accuracy = compared.get("accuracy") or document.get("accuracy") or {}
    fidelity = compared.get("fidelity") or document.get("fidelity") or {}
    if accuracy.get("before") is not None:
        return _below(WITH_LABELS, accuracy.get("after"), original=accuracy["before"])
    if (document.get("data") or {}).get("labels"):
        return None
    if fidelity.get("sqnr_db") is not None:
        return _below(WITHOUT_LABELS, fidelity["sqnr_db"])
    return _below(WITHOUT_FLOATS, fidelity.get("agreement"))


def _has_own_target(document: Mapping[str, Any]) -> bool:
    text = (target_of(document) or {}).get("text")
    try:
        return bool(text) and bool(_OF_OUTPUTS & set(parse_target(str(text)).metrics))
    except TargetError:
        return False


def _below(target: str, value: float | None, *, original: float = 1.0) -> Shortfall | None:
    condition = parse_target(target).conditions[0]
    required = condition.limit * original if condition.relative else condition.limit
    if value is None or condition.holds(value, required):
        return None
    if condition.metric == "sqnr":
        limit = f"{condition.limit:g} dB"
    else:
        limit = f"{100 * condition.limit:g} %" + (" of the original's" if condition.relative else "")
    return Shortfall(condition.metric, f"below the default target of {limit}")
