"""Paired timing: two models in two child processes, run in turn on the same samples in random order.

Whatever the machine does, it does to both. A pair during which another process took the processor is left out and
measured again, for up to twice the budget; where there is never peace, processor times are compared instead. The ratio
is mean(original) / mean(candidate) over the pairs; its interval is a bootstrap over blocks of neighbouring pairs,
because a machine's mood lasts longer than one pair.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import DataError
from core.intake.dataset import Dataset
from core.intake.model import Openable
from core.measure.batches import batched_feeds
from core.measure.calm import Basis, Timed, keep_calm
from core.measure.child import Child, Feeds, open_children
from core.measure.intervals import percentiles, ratio_draws
from core.measure.latency import PairedLatency
from core.progress import Progress, Silent
from core.runtime.settings import SessionSettings

Array = np.ndarray[Any, np.dtype[Any]]
Clock = Callable[[], float]

ORIGINAL, CANDIDATE, AGAIN = "original model", "candidate", "original model again"

#: Pairs before the interval is looked at, and those that are measured even when the budget is spent.
_FIRST_LOOK = 40
_FEWEST = 5
_MOST = 4000
_LOOK_EVERY = 20
#: Narrow enough: half the interval, relative to the ratio.
_PRECISE = 0.01
#: How many budgets it waits for peace.
_PATIENCE = 2.0
_WARM_UP_RUNS = 3
_WARM_UP_SHARE = 0.1
#: A visit lasts at least so long: short runs are repeated within it.
_VISIT_S = 0.01
#: Before it, so much is run untimed: the other model has just emptied the caches, and a model whose weights fill them
#: would read as slower than it is in real use (digits-cnn in fp32 by half, its int8 form hardly).
_REFILL_S = 0.004
#: Runs longer than this are not repeated: what a cold cache costs them does not count.
_COLD_S = 0.02


def measure_pair(
    original: Openable,
    candidate: Openable,
    dataset: Dataset,
    indices: Sequence[int],
    *,
    settings: SessionSettings,
    batch: int = 1,
    seed: int = 0,
    budget_s: float = 10.0,
    noise: bool = False,
    progress: Progress | None = None,
    clock: Clock = time.monotonic,
) -> PairedLatency:
    """Measures how much faster the candidate is than the original.

    It measures until every sample was seen and the interval is within 1 %, or the budget is spent, but at least five
    pairs; on a machine without peace up to twice the budget.

    Args:
        original: serialized model or its file.
        candidate: likewise.
        dataset: where the samples come from.
        indices: the samples; with `batch` above 1 they run in that many together.
        settings: of both sessions.
        batch: samples per run.
        seed: of the order and of the bootstrap.
        budget_s: seconds of measuring, without opening the models.
        noise: also measures the original against itself, in between (half as much time again).
        progress: is told how far it is.
        clock: seconds; a test may bring its own.

    Raises:
        DataError: no samples.
        RunError: a model fails; the message says which.
        CrashedError: a child died; the message says which, and on which sample.
    """
    feeds = _feeds(dataset, indices, batch)
    models = {ORIGINAL: original, CANDIDATE: candidate, **({AGAIN: original} if noise else {})}
    with open_children(models, feeds, settings) as children:
        _warm_up(children, len(feeds), budget_s * _WARM_UP_SHARE, clock)
        pairs = _measure(children, len(feeds), _Plan(seed, budget_s, settings.threads, clock), progress or Silent())
        memory = {name: child.peak_bytes() for name, child in children.items()}
    return _summarize(pairs, memory, batch=batch, seed=seed)


@dataclass(frozen=True, slots=True)
class _Pair:
    """One visit to each model with the same feed."""

    unit: int
    timed: Mapping[str, Timed]

    @property
    def disturbed(self) -> bool:
        return any(timed.disturbed for timed in self.timed.values())


@dataclass
class _Pairs:
    """All pairs so far, in order."""

    threads: int
    all: list[_Pair] = field(default_factory=list)

    def calm(self) -> list[_Pair]:
        """Pairs in which nobody was disturbed, where they are enough."""
        return keep_calm(self.all, lambda pair: pair.disturbed)

    def used(self) -> list[_Pair]:
        """The pairs that count: calm ones, else all."""
        return self.calm() or self.all

    @property
    def basis(self) -> Basis:
        """Processor time where there is no peace and one thread does the work."""
        return "wall" if self.threads > 1 or self.calm() else "processor"

    def times(self, name: str) -> Array:
        """Nanoseconds of one model in the pairs that count, by the basis."""
        timed = [pair.timed[name] for pair in self.used()]
        return np.array([one.cpu_ns if self.basis == "processor" else one.ns for one in timed])


def _feeds(dataset: Dataset, indices: Sequence[int], batch: int) -> Feeds:
    if not len(indices):
        raise DataError(f"'{dataset.name}' has no samples to measure on.", hint="Give at least one sample.")
    return batched_feeds(dataset, indices, batch)


def _warm_up(children: Mapping[str, Child], units: int, budget_s: float, clock: Clock) -> None:
    """Lets every child see some samples untimed: first runs allocate, and shapes may differ."""
    start = clock()
    for turn in range(max(_WARM_UP_RUNS, units)):
        if turn >= _WARM_UP_RUNS and clock() - start > budget_s:
            return
        for child in children.values():
            child.run(turn % units)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How long, by which clock, in which order."""

    seed: int
    budget_s: float
    threads: int
    clock: Clock


def _measure(children: Mapping[str, Child], units: int, plan: _Plan, progress: Progress) -> _Pairs:
    chance = random.Random(plan.seed)
    pairs = _Pairs(plan.threads)
    order = list(children)
    visits = {name: _Visit(child) for name, child in children.items()}
    start = plan.clock()
    total = int(1e3 * plan.budget_s)
    for unit in _in_random_order(units, chance):
        spent = plan.clock() - start
        progress.step(min(int(1e3 * spent), total), total, f"pair {len(pairs.all) + 1}")
        if _is_enough(pairs, units, spent / plan.budget_s, plan.seed):
            return pairs
        chance.shuffle(order)
        pairs.all.append(_Pair(unit, {name: visits[name].time(unit) for name in order}))
    return pairs


class _Visit:
    """One timed visit to a child, repeated where a single run is too short to time."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._expected_s = child.run(0).ns / 1e9

    def time(self, unit: int) -> Timed:
        times = max(1, min(50, round(_VISIT_S / max(self._expected_s, 1e-7))))
        warm = min(20, math.ceil(_REFILL_S / max(self._expected_s, 1e-7))) if self._expected_s < _COLD_S else 0
        timing = self._child.run(unit, warm=warm, times=times)
        self._expected_s = 0.9 * self._expected_s + 0.1 * timing.ns / 1e9
        return timing


def _in_random_order(units: int, chance: random.Random) -> Iterator[int]:
    """Every unit once, in random order, then again in another, without end."""
    while True:
        yield from chance.sample(range(units), units)


def _is_enough(pairs: _Pairs, units: int, spent: float, seed: int) -> bool:
    """Whether to stop, given the share of the budget that is spent: without peace it goes on up to twice as long."""
    count = len(pairs.all)
    if spent >= 1 or count >= _MOST:
        return count >= _FEWEST and (spent >= _PATIENCE or bool(pairs.calm()))
    if count < max(_FIRST_LOOK, units) or count % _LOOK_EVERY or not pairs.calm():
        return False
    low, high = percentiles(ratio_draws(pairs.times(ORIGINAL), pairs.times(CANDIDATE), seed=seed))
    return (high - low) / (high + low) <= _PRECISE


def _summarize(pairs: _Pairs, memory: Mapping[str, int], *, batch: int, seed: int) -> PairedLatency:
    before, after = pairs.times(ORIGINAL) / 1e6, pairs.times(CANDIDATE) / 1e6
    draws = ratio_draws(before, after, seed=seed)
    again = ratio_draws(before, pairs.times(AGAIN) / 1e6, seed=seed) if AGAIN in memory else None
    after_draws = ratio_draws(after, np.ones_like(after), seed=seed)
    return PairedLatency(
        ratio=float(before.mean() / after.mean()),
        ci95=percentiles(draws),
        ratio_bound=float(np.percentile(draws, 5)),
        before_ms=float(before.mean()),
        after_ms=float(after.mean()),
        after_bound_ms=float(np.percentile(after_draws, 95)),
        before_p95_ms=float(np.percentile(before, 95)),
        after_p95_ms=float(np.percentile(after, 95)),
        batch=batch,
        pairs=len(before),
        disturbed=sum(pair.disturbed for pair in pairs.all),
        samples=len({pair.unit for pair in pairs.used()}) * batch,
        before_memory_bytes=memory.get(ORIGINAL),
        after_memory_bytes=memory.get(CANDIDATE),
        noise_ci95=None if again is None else percentiles(again),
        basis=pairs.basis,
        disturbed_kept=pairs.basis == "wall" and not pairs.calm(),
    )
