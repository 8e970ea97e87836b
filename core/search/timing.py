"""Quick timing: several models in one process, interleaved in random order, each against the original.

Only ranks candidates while the search runs. What is reported is measured again in child processes, on other samples.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev
from typing import Any

from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings

_WARM_UP = 2
_FEWEST = 8
_REFILL_S, _COLD_S = 0.004, 0.02


@dataclass(frozen=True, slots=True)
class QuickRatio:
    """Time of the original over time of this one (median over rounds), and the standard error of its logarithm."""

    ratio: float
    log_error: float
    median_ms: float


def quick_ratios(
    original: bytes,
    candidates: Mapping[str, bytes],
    feeds: Sequence[Mapping[str, Any]],
    settings: SessionSettings,
    *,
    budget_s: float,
    seed: int,
    most_rounds: int = 60,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, QuickRatio]:
    """Times all candidates against the original; at least eight rounds, then until the budget is spent."""
    sessions = {"": open_session(original, settings)}
    sessions |= {name: open_session(data, settings) for name, data in candidates.items()}
    for session in sessions.values():
        for _ in range(_WARM_UP):
            run_session(session, feeds[0])
    spent: dict[str, list[float]] = {name: [] for name in sessions}
    order, chance, start = list(sessions), random.Random(seed), clock()
    for number in range(most_rounds):
        if number >= _FEWEST and clock() - start > budget_s:
            break
        chance.shuffle(order)
        for name in order:
            feed = feeds[number % len(feeds)]
            for _ in range(_refills(spent[name])):
                run_session(sessions[name], feed)
            begin = clock()
            run_session(sessions[name], feed)
            spent[name].append(clock() - begin)
    return {name: _ratio(spent[""], spent[name]) for name in candidates}


def _refills(seen: Sequence[float]) -> int:
    """Untimed runs before a timed one: the other models have just emptied the caches, which only short runs feel."""
    return min(5, math.ceil(_REFILL_S / max(seen[-1], 1e-6))) if seen and seen[-1] < _COLD_S else 0


def _ratio(before: Sequence[float], after: Sequence[float]) -> QuickRatio:
    logs = [math.log(max(one, 1e-9) / max(other, 1e-9)) for one, other in zip(before, after, strict=True)]
    error = stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    middle = median(logs) if len(logs) > 2 else fmean(logs)
    return QuickRatio(math.exp(middle), error, median(after) * 1e3)
