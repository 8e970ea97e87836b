"""Timing of two forms of one operator: runs in pairs, the order alternating, and the interval of their ratio."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

_PAIRS = 25
_WARM_UP = 3
_SHORTEST_S = 2e-4
_Z95 = 1.96

Run = Callable[[], object]
Clock = Callable[[], float]


def speedup(before: Run, after: Run, clock: Clock) -> tuple[float, tuple[float, float]]:
    """Time of `before` over time of `after`: the median ratio of 25 pairs and its 95 % interval."""
    sides = (before, after)
    runs = [_runs_needed(run, clock) for run in sides]
    found = []
    for pair in range(_PAIRS):
        spent = [0.0, 0.0]
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            start = clock()
            for _ in range(runs[side]):
                sides[side]()
            spent[side] = (clock() - start) / runs[side]
        found.append(math.log(spent[0] / spent[1]) if min(spent) > 0 else 0.0)
    return _interval(np.array(found))


def _runs_needed(run: Run, clock: Clock) -> int:
    """How many runs make a stretch long enough to be timed."""
    for _ in range(_WARM_UP):
        run()
    start = clock()
    run()
    return max(1, math.ceil(_SHORTEST_S / max(clock() - start, 1e-9)))


def _interval(logs: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, tuple[float, float]]:
    """Median ratio and its 95 % interval from the order statistics of the pairs (binomial, distribution-free)."""
    ordered = np.sort(logs)
    half = _Z95 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - half))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + half) - 1)
    return float(np.exp(np.median(logs))), (float(np.exp(ordered[low])), float(np.exp(ordered[high])))
