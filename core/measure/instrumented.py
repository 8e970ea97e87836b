"""Instrumented: the plain and the profiled session of one model, run in turn in random order.

Spinning is off, so the sessions do not disturb each other. Before each timed run of a short model some runs are not
timed: the other session has just emptied the caches, which in use nobody does.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from core.measure.calm import Timed, time_run
from core.measure.events import RunEvents
from core.progress import Progress
from core.runtime.attribute import TaggedSession
from core.runtime.session import Session, run_session

Clock = Callable[[], float]
Feed = Mapping[str, np.ndarray[Any, np.dtype[Any]]]

_WARM_UP_RUNS = 3
_FEWEST_RUNS = 10
_FEWEST_IN_BUDGET = 3
_MOST_RUNS = 300
_BUDGET_S = 4.0
#: Untimed runs before a timed one fill this, but for models that take longer than `_COLD_S`.
_REFILL_S, _COLD_S, _MOST_REFILLS = 0.004, 0.02, 8
#: The profiler's file grows by about 0.7 kB per kernel.
_MOST_EVENTS = 150_000


class Plan(NamedTuple):
    """How many runs of each session (None: as many as `budget_s` allows), in which order, by which clock.

    `budget_s` None stands for four seconds, but at least ten runs; a budget that was asked for is kept to after three.
    `least` is another number than these two. `warm_up` runs come before all, untimed.
    """

    runs: int | None
    seed: int
    clock: Clock
    budget_s: float | None = None
    least: int | None = None
    warm_up: int = _WARM_UP_RUNS

    @property
    def seconds(self) -> float:
        """After these no further run begins."""
        return _BUDGET_S if self.budget_s is None else self.budget_s

    @property
    def fewest(self) -> int:
        """So many runs are made whatever they take."""
        if self.runs is not None and self.budget_s is None:
            return self.runs
        least = self.least or (_FEWEST_RUNS if self.budget_s is None else _FEWEST_IN_BUDGET)
        return least if self.runs is None else min(self.runs, least)


class Both(NamedTuple):
    """One run of each session."""

    plain: Timed
    tagged: Timed


class Pair:
    """The plain and the instrumented session, run in turn."""

    def __init__(self, plain: Session, tagged: TaggedSession, feeds: Sequence[Feed], threads: int) -> None:
        self._sessions = {"plain": plain, "tagged": tagged.session}
        self._kernels = max(1, len(tagged.graph.nodes))
        self._feeds = feeds
        self._threads = threads
        self._refills = dict.fromkeys(self._sessions, 0)

    def run(self, plan: Plan, progress: Progress, on_run: Iterable[Callable[[Sequence[Both]], None]]) -> list[Both]:
        """Runs both in turn, after a warm-up of each that is not returned; `on_run` are told all timed runs so far."""
        for turn in range(plan.warm_up):
            last = {name: self._time(name, turn) for name in self._sessions}
        self._refills = {name: _refills(timing.ns / 1e9) for name, timing in last.items()}
        chance, order, timed = random.Random(plan.seed), list(self._sessions), list[Both]()
        events = self._kernels * (self._refills["tagged"] + 1)
        most = plan.runs or max(plan.fewest, min(_MOST_RUNS, _MOST_EVENTS // events))
        start = plan.clock()
        for turn in range(most):
            if turn >= plan.fewest and plan.clock() - start > plan.seconds:
                break
            progress.step(turn, most, f"run {turn + 1}")
            chance.shuffle(order)
            spent = {name: self._time(name, turn) for name in order}
            timed.append(Both(**spent))
            for told in on_run:
                told(timed)
        return timed

    def timed_only(self, events: Sequence[RunEvents], count: int) -> list[RunEvents]:
        """Of the profiler's runs the timed ones, without warm-up and refills."""
        refills = self._refills["tagged"]
        each = refills + 1
        return list(events[-count * each :][refills::each])

    def _time(self, name: str, turn: int) -> Timed:
        session, feed = self._sessions[name], self._feeds[turn % len(self._feeds)]
        for _ in range(self._refills[name]):
            run_session(session, feed)
        return time_run(partial(run_session, session, feed), threads=self._threads)


def _refills(seconds: float) -> int:
    """Untimed runs before a timed one that takes so long."""
    return min(_MOST_REFILLS, math.ceil(_REFILL_S / max(seconds, 1e-6))) if seconds < _COLD_S else 0
