"""Permissions: what a request allows beyond precisions. This version builds none of it, and the document says so.

A permission (`dynamic_graph`, cache "auto") is an offer to the search: not taking it is an answer. Asking for one
certain thing that is not there (a session cache, another objective) is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.errors import RequestError, UnavailableError, did_you_mean
from core.tasks.params import Params, read_text

OBJECTIVES = ("latency", "size", "memory", "energy", "fidelity")
CACHES = ("none", "auto", "session", "result")

_NO_DYNAMIC = (
    "This version builds no early exits, cascades or shape buckets, so every sample takes the whole graph;"
    " precision is chosen layer by layer without them."
)
_NO_CACHE = "This version builds no session or result cache, so every run computes its answer and opens the model anew."


def check_objective(params: Params) -> None:
    """Only latency is optimized in this version.

    Raises:
        RequestError: there is no such objective.
        UnavailableError: one of a later version.
    """
    objective = read_text(params, "objective") or "latency"
    _check_known("objective", objective, OBJECTIVES)
    if objective != "latency":
        message = f"Optimizing {objective} is not in this version yet."
        raise UnavailableError(message, hint="This version optimizes latency: leave the objective out.")


def dynamic_part(params: Params) -> dict[str, Any]:
    """The document's `dynamic`: empty where nothing was allowed, else what was built of it (nothing yet) and why."""
    allowed = params.get("dynamic_graph")
    if allowed not in (None, False, True):
        raise RequestError(f"'dynamic_graph' must be true or false, not {allowed!r}.")
    return {"allowed": True, "built": [], "why": _NO_DYNAMIC} if allowed else {}


def session_part(params: Params) -> dict[str, Any]:
    """The document's `session`: empty without a cache strategy, else what was built of it (nothing yet) and why.

    Raises:
        RequestError: there is no such strategy.
        UnavailableError: a certain cache is asked for, which this version does not build.
    """
    strategy = read_text(params, "cache") or "none"
    _check_known("cache strategy", strategy, CACHES)
    if strategy == "none":
        return {}
    if strategy != "auto":
        message = f"A {strategy} cache is not in this version yet."
        raise UnavailableError(message, hint="Ask for no cache, or for 'auto', which takes what there is.")
    return {"allowed": "auto", "built": [], "why": _NO_CACHE}


def _check_known(what: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        message = f"There is no {what} '{value}'.{did_you_mean(value, known)}"
        raise RequestError(message, hint=f"It is one of {', '.join(known)}.")
