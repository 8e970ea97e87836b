"""Calm: timing one run, and telling whether another process took the processor during it.

On a busy machine a run of 2 ms reads as 20 ms when it has to wait for its turn. That is told by the process itself:
it was switched out against its will, or had the processor for less time than has passed.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

#: A run is disturbed where its process did not have the processor for more than this share of it.
_TOLERATED_ABSENCE = 0.1
_FEWEST_CALM = 5
_LEAST_CALM_SHARE = 0.25

T = TypeVar("T")


class Timed(NamedTuple):
    """Wall time of one run in nanoseconds; `disturbed` where another process took the processor during it."""

    ns: int
    disturbed: bool


def time_run(run: Callable[[], object], *, threads: int) -> Timed:
    """Times one call. With more than one thread, only switches of this process are noticed, not its absence."""
    switches = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    cpu_ns = time.process_time_ns()
    start = time.perf_counter_ns()
    run()
    ns = time.perf_counter_ns() - start
    cpu_ns = time.process_time_ns() - cpu_ns
    switched = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw > switches
    absent = threads == 1 and cpu_ns < (1 - _TOLERATED_ABSENCE) * ns
    return Timed(ns, switched or absent)


def keep_calm(items: Sequence[T], disturbed: Callable[[T], bool]) -> list[T]:
    """The undisturbed items; all of them where hardly any is undisturbed."""
    calm = [item for item in items if not disturbed(item)]
    enough = len(calm) >= max(_FEWEST_CALM, _LEAST_CALM_SHARE * len(items))
    return calm if enough else list(items)
