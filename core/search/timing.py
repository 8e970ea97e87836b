"""Quick timing: several models in one process, interleaved in random order, each against the original.

Only ranks candidates while the search runs. What is reported is measured again in child processes, on other samples.
The ranking must come out the same another time, so it asks for more than a difference:

- a mix is *clearly slower* than the fastest where it takes 5 % longer and that is three standard errors beyond doubt;
- of those that are not clearly slower, the first in a fixed order is chosen;
- rounds go on while any of these calls is close.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median, stdev
from typing import Any

from core.intake.model import Openable
from core.measure.calm import Timed, keep_calm, time_run
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings

_WARM_UP = 2
_FEWEST, _FEWEST_SLOW, _LOOK_EVERY = 8, 4, 4
_REFILL_S, _COLD_S, _SLOW_S = 0.004, 0.02, 0.2
_VISIT_S, _MOST_REPEATS = 0.004, 40

#: What counts as clearly slower, and how surely.
MARGIN = math.log(1.05)
#: The least gain that is worth another model.
LEAST_GAIN = math.log(1.02)
_SURE = 3.0
#: The scatter of fewer rounds says little of the scatter of more.
_FEWEST_TO_TELL = 12
ORIGINAL = ""


@dataclass(frozen=True, slots=True)
class QuickRatio:
    """Time of the original over time of this one (median over rounds), and the standard error of its logarithm."""

    ratio: float
    log_error: float
    median_ms: float


@dataclass(frozen=True, slots=True)
class Timings:
    """Nanoseconds of every model in every round that counts; the original's name is empty."""

    rounds: Mapping[str, tuple[float, ...]]

    def ratio(self, name: str) -> QuickRatio:
        """One model against the original."""
        gap, error = self.gap(ORIGINAL, name)
        return QuickRatio(math.exp(gap), error, median(self.rounds[name]) / 1e6)

    def gap(self, slow: str, fast: str) -> tuple[float, float]:
        """Logarithm of how much longer `slow` takes than `fast` (median over rounds), and its standard error."""
        pairs = zip(self.rounds[slow], self.rounds[fast], strict=True)
        logs = [math.log(max(one, 1.0) / max(other, 1.0)) for one, other in pairs]
        error = 1.2533 * stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
        return median(logs), error

    def choose(self, order: Sequence[str]) -> str:
        """The first in the order that is not clearly slower than the fastest."""
        fastest = max(order, key=lambda name: self.ratio(name).ratio)
        return next(name for name in order if not self._clearly_slower(name, fastest))

    def is_settled(self) -> bool:
        """Whether no call is close: neither which is clearly slower, nor whether the fastest is worth anything."""
        if len(self.rounds[ORIGINAL]) < _FEWEST_TO_TELL:
            return False
        names = [name for name in self.rounds if name != ORIGINAL]
        fastest = max(names, key=lambda name: self.ratio(name).ratio)
        calls = [(self.gap(name, fastest), MARGIN) for name in names if name != fastest]
        calls.append((self.gap(ORIGINAL, fastest), LEAST_GAIN))
        return all(abs(gap - limit) > _SURE * error for (gap, error), limit in calls)

    def to_dict(self) -> dict[str, Any]:
        """As the store keeps them."""
        return {"rounds": {name: list(spent) for name, spent in self.rounds.items()}}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Timings:
        """Reads what `to_dict` gave."""
        return cls({name: tuple(float(one) for one in spent) for name, spent in document["rounds"].items()})

    def _clearly_slower(self, name: str, fastest: str) -> bool:
        gap, error = self.gap(name, fastest)
        return name != fastest and gap > max(MARGIN, _SURE * error)


def quick_timings(
    original: Openable,
    candidates: Mapping[str, Openable],
    feeds: Sequence[Mapping[str, Any]],
    settings: SessionSettings,
    *,
    budget_s: float,
    seed: int,
    most_rounds: int = 160,
    clock: Callable[[], float] = time.perf_counter,
) -> Timings:
    """Times all candidates against the original until no call is close or the budget is spent.

    At least eight rounds, four where a run takes a fifth of a second.
    """
    sessions = {ORIGINAL: open_session(original, settings)}
    sessions |= {name: open_session(data, settings) for name, data in candidates.items()}
    runs = {name: partial(run_session, session) for name, session in sessions.items()}
    for run in runs.values():
        for _ in range(_WARM_UP):
            run(feeds[0])
    rounds: list[dict[str, Timed]] = []
    order, chance, start = list(runs), random.Random(seed), clock()
    for number in range(most_rounds):
        if _is_enough(rounds, settings.threads, clock() - start > budget_s):
            break
        chance.shuffle(order)
        feed, seen = feeds[number % len(feeds)], rounds[-1] if rounds else {}
        rounds.append({name: _time(partial(runs[name], feed), seen.get(name), settings.threads) for name in order})
    return _settle(rounds, settings.threads)


def _is_enough(rounds: Sequence[Mapping[str, Timed]], threads: int, over: bool) -> bool:
    slow = bool(rounds) and max(one.ns for one in rounds[-1].values()) > _SLOW_S * 1e9
    if len(rounds) < (_FEWEST_SLOW if slow else _FEWEST):
        return False
    return over or (len(rounds) % _LOOK_EVERY == 0 and _settle(rounds, threads).is_settled())


def _time(run: Callable[[], Any], seen: Timed | None, threads: int) -> Timed:
    """One timed visit, behind untimed runs that refill the caches which the other models have just emptied.

    Short runs are repeated within it: one alone is too short to time.
    """
    seconds = math.inf if seen is None else max(seen.ns / 1e9, 1e-6)
    for _ in range(min(_MOST_REPEATS, math.ceil(_REFILL_S / seconds)) if seconds < _COLD_S else 0):
        run()
    times = max(1, min(_MOST_REPEATS, round(_VISIT_S / seconds)))
    timed = time_run(partial(_repeat, run, times), threads=threads)
    return Timed(timed.ns / times, timed.cpu_ns / times, timed.disturbed)


def _repeat(run: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        run()


def _settle(rounds: Sequence[Mapping[str, Timed]], threads: int) -> Timings:
    """Calm rounds on the wall; where there are too few, processor time of all (one thread), else all on the wall."""
    calm = keep_calm(rounds, lambda timed: any(one.disturbed for one in timed.values()))
    by_processor = not calm and threads == 1
    used = calm or list(rounds)
    names = list(rounds[0])
    return Timings({name: tuple(_ns(timed[name], by_processor) for timed in used) for name in names})


def _ns(timed: Timed, by_processor: bool) -> float:
    return float(timed.cpu_ns if by_processor else timed.ns)


def quick_run_ms(model: Openable, feeds: Sequence[Mapping[str, Any]], settings: SessionSettings) -> float:
    """Milliseconds of one run, the shortest of a few: a first idea, little disturbed by what else the machine does."""
    session = open_session(model, settings)
    run_session(session, feeds[0])
    timed = [time_run(partial(run_session, session, feed), threads=settings.threads) for feed in feeds[:5]]
    timed += [time_run(partial(run_session, session, feeds[0]), threads=settings.threads)]
    return min(one.cpu_ns if settings.threads == 1 else one.ns for one in timed) / 1e6
