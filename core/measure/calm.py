"""Calm: timing one run, and telling whether another process took the processor during it.

On a busy machine a run of 2 ms reads as 20 ms when it has to wait for its turn. That is told by the process itself:
it was switched out against its will, or had the processor for less time than has passed. Long runs are disturbed more
often than short ones, so disturbed runs are never compared on the wall: a faster model would look better still.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeVar

#: A run is disturbed where its process did not have the processor for more than this share of it.
_TOLERATED_ABSENCE = 0.1
_ENOUGH_CALM = 20
_FEWEST_CALM = 5
_LEAST_CALM_SHARE = 0.25

#: What a latency is made of: time on the wall, or time that the process had the processor.
Basis = Literal["wall", "processor"]

T = TypeVar("T")


class Timed(NamedTuple):
    """Wall and processor time of one run in nanoseconds; `disturbed` where another process took the processor."""

    ns: float
    cpu_ns: float
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
    return Timed(ns, cpu_ns, switched or absent)


def keep_calm(items: Sequence[T], disturbed: Callable[[T], bool]) -> list[T]:
    """The undisturbed items where there are enough of them to stand for all; none otherwise.

    Enough are 20, or 5 that are a quarter of all.
    """
    calm = [item for item in items if not disturbed(item)]
    share = len(calm) / len(items) if items else 0.0
    enough = len(calm) >= _ENOUGH_CALM or (len(calm) >= _FEWEST_CALM and share >= _LEAST_CALM_SHARE)
    return calm if enough else []


def settle(runs: Sequence[Timed], *, threads: int) -> tuple[list[float], Basis]:
    """Nanoseconds to judge a model by: calm runs on the wall, else processor time, which no other process lengthens.

    Processor time says nothing of latency with more than one thread: then all runs stay, on the wall.
    """
    calm = keep_calm(runs, lambda run: run.disturbed)
    if calm or threads > 1:
        return [run.ns for run in calm or runs], "wall"
    return [run.cpu_ns for run in runs], "processor"
