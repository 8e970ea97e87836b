"""Instrumented: the plain and the profiled session of one model, run in turn in random order.

Spinning is off, so the sessions do not disturb each other. Short models run several times per turn. The first of these
runs are not timed: the other session has just emptied the caches, which in use nobody does.
"""

from __future__ import annotations

import math
import random
from collections import Counter
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
#: Rounds open the sessions anew; that takes this share of the time at most.
_MOST_ROUNDS, _OPENING_SHARE, _FEWEST_IN_ROUND = 7, 0.4, 4
_FEWEST_RUNS = 10
_FEWEST_IN_BUDGET = 3
_MOST_RUNS = 3000
_BUDGET_S = 4.0
#: Untimed runs before timed ones fill this, but for models that take longer than `_COLD_S`; so do the timed ones.
_REFILL_S, _COLD_S, _MOST_REFILLS = 0.004, 0.02, 8
#: The profiler's file grows by about 0.7 kB per kernel.
_MOST_EVENTS = 100_000


class Plan(NamedTuple):
    """How many runs of each session (None: as many as `budget_s` allows), in which order, by which clock.

    `budget_s` None stands for four seconds, but at least ten runs; a budget that was asked for is kept to after three.
    `least` is another number than these two. `warm_up` runs come first in each of at most `most_rounds`,
    untimed; a turn has at most `most_repeats` timed ones.
    """

    runs: int | None
    seed: int
    clock: Clock
    budget_s: float | None = None
    least: int | None = None
    warm_up: int = _WARM_UP_RUNS
    most_rounds: int = _MOST_ROUNDS
    most_repeats: int = _MOST_REFILLS

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

    def rounds(self, opening_s: float) -> int:
        """How often the sessions are opened, where that takes so long: for two fifths of the time, and a few times."""
        affordable = int(_OPENING_SHARE * self.seconds / max(opening_s, 1e-6))
        enough = self.most_rounds if self.runs is None else self.runs // _FEWEST_IN_ROUND
        return max(1, min(self.most_rounds, affordable, enough))

    def of_round(self, number: int, count: int, seconds: float) -> RoundPlan:
        """What falls to one of `count` rounds, for which there are so many seconds."""
        runs = None if self.runs is None else self.runs // count + (number < self.runs % count)
        fewest = math.ceil(self.fewest / count)
        return RoundPlan(runs, fewest if runs is None else min(runs, fewest), seconds, number, count, self)


class RoundPlan(NamedTuple):
    """Round `number` of `total`: `runs` (None: as many as `seconds` allow), `fewest` whatever they take."""

    runs: int | None
    fewest: int
    seconds: float
    number: int
    total: int
    whole: Plan


class Both(NamedTuple):
    """One run of each session. All runs of a `turn` are of one feed: that of this number, modulo their count.

    A `round` is one opening of the sessions.
    """

    plain: Timed
    tagged: Timed
    turn: int = 0
    round: int = 0


class Pair:
    """The plain and the instrumented session, run in turn."""

    def __init__(self, plain: Session, tagged: TaggedSession, feeds: Sequence[Feed], threads: int) -> None:
        self._sessions = {"plain": plain, "tagged": tagged.session}
        self._kernels = max(1, len(tagged.graph.nodes))
        self._feeds = feeds
        self._threads = threads
        self._refills = dict.fromkeys(self._sessions, 0)

    def run(
        self,
        plan: RoundPlan,
        progress: Progress,
        on_turn: Iterable[Callable[[Sequence[Both]], None]],
        *,
        first_turn: int = 0,
    ) -> list[Both]:
        """Runs both in turn, after a warm-up of each that is not returned; `on_turn` are told all timed runs so far.

        The feed of a turn is that of its number, which counts from `first_turn`.
        """
        for turn in range(plan.whole.warm_up):
            last = {name: self._run(name, turn, 0, 1)[0] for name in self._sessions}
        self._refills = {name: _refills(timing.ns / 1e9) for name, timing in last.items()}
        chance, order, timed = random.Random(f"{plan.whole.seed} {first_turn}"), list(self._sessions), list[Both]()
        repeats = max(1, min(plan.whole.most_repeats, self._refills["tagged"]))
        events = self._kernels * (self._refills["tagged"] / repeats + 1)
        most = plan.runs or max(plan.fewest, int(min(_MOST_RUNS, _MOST_EVENTS / events) / plan.total))
        repeats = max(1, min(repeats, most // len(self._feeds)))
        clock, turn = plan.whole.clock, first_turn
        start = clock()
        while len(timed) < most:
            if len(timed) >= plan.fewest and clock() - start > plan.seconds:
                break
            progress.step(plan.number * most + len(timed), plan.total * most, f"run {len(timed) + 1}")
            chance.shuffle(order)
            count = min(repeats, most - len(timed))
            spent = {name: self._run(name, turn, self._refills[name], count) for name in order}
            pairs = zip(spent["plain"], spent["tagged"], strict=True)
            timed += [Both(plain, tagged, turn, plan.number) for plain, tagged in pairs]
            turn += 1
            for told in on_turn:
                told(timed)
        return timed

    def timed_only(self, events: Sequence[RunEvents], timed: Sequence[Both]) -> list[RunEvents]:
        """Of the profiler's runs the timed ones, without warm-up and refills."""
        found: list[RunEvents] = []
        end = len(events)
        for count in reversed(Counter(both.turn for both in timed).values()):
            found[:0] = events[end - count : end]
            end -= count + self._refills["tagged"]
        return found

    def _run(self, name: str, turn: int, refills: int, count: int) -> list[Timed]:
        session, feed = self._sessions[name], self._feeds[turn % len(self._feeds)]
        for _ in range(refills):
            run_session(session, feed)
        return [time_run(partial(run_session, session, feed), threads=self._threads) for _ in range(count)]


def _refills(seconds: float) -> int:
    """Untimed runs before timed ones that take so long."""
    return min(_MOST_REFILLS, math.ceil(_REFILL_S / max(seconds, 1e-6))) if seconds < _COLD_S else 0
