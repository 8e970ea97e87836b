"""The sweep: one model at several thread counts and batch sizes, each cell in a process and session of its own.

A quick run of one sample tells how long a run takes, what a process holds, and with that how long the sweep will take:
this is told before the measuring begins. Where memory allows, all cells stay open and are visited in turn, round by
round in random order; else they are opened one after the other, several times over. Spinning is off (see
`SessionSettings`): a cell that waits takes nothing from the one that runs. A cell that fails is told with its reason,
and the others go on.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

import psutil

from core.errors import CrashedError, DataError, RunError
from core.intake.dataset import Dataset, Split
from core.intake.model import Openable
from core.measure.batches import batched_feeds
from core.measure.calm import Timed
from core.measure.child import Child, open_children
from core.measure.sweep_plan import OPENINGS, WARM_UP_RUNS, Cell, estimate_s, rounds_of, visit_of
from core.measure.sweet_spot import sweet_spot
from core.measure.swept import Sweep, SweptCell, latency_of
from core.progress import Progress, Silent
from core.runtime.conditions import Conditions
from core.runtime.cores import usable_cores
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings

Clock = Callable[[], float]

_QUICK_RUNS = 3
#: More feeds than this only fill memory: a cell sees each of them in turn.
_MOST_FEEDS = 8
#: All cells stay open where they hold at most this share of the memory that is free.
_MEMORY_SHARE = 0.5
_PUBLISH_S = 1.0


def sweep_model(
    model: Openable,
    dataset: Dataset,
    cells: Sequence[Cell],
    *,
    settings: SessionSettings,
    limit_ms: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Clock = time.monotonic,
) -> Sweep:
    """Measures every cell.

    Args:
        model: serialized model or its file.
        dataset: samples of the evaluation split are used (all of them where it is empty).
        cells: threads and batch of each.
        settings: provider and spinning; threads are each cell's.
        limit_ms: latency that 95 of 100 runs must keep at the sweet spot; None: no limit.
        seed: of the order and of the intervals.
        progress: is told how far it is; gets the cells so far after every round, as partial results "sweep".
        clock: seconds; a test may bring its own.

    Raises:
        RunError, CrashedError: the model cannot be opened, or fails on one sample with one thread.
    """
    told = progress or Silent()
    bench = _Bench(model, dataset, settings, seed, clock)
    told.phase("Try one sample", start=0.0, end=0.05)
    run = _Run(bench, cells, bench.try_one(), told)

    def publish() -> None:
        told.partial("sweep", run.summarize(limit_ms).to_dict())

    publish()
    told.phase(f"Measure {len(run.possible)} cells, about {_duration(run.estimate_s)}", start=0.05, end=1.0)
    run.measure(publish)
    return run.summarize(limit_ms)


@dataclass(frozen=True, slots=True)
class _Quick:
    """One sample with one thread: milliseconds of a run, seconds to open, bytes that its process holds."""

    ms: float
    open_s: float
    bytes: int


@dataclass(frozen=True, slots=True)
class _Opened:
    """A cell whose model is open, and how many feeds it turns through."""

    child: Child
    feeds: int

    def visit(self, turn: int, *, warm: int, times: int) -> list[Timed]:
        return self.child.runs(turn % self.feeds, warm=warm, times=times)


@dataclass(frozen=True, slots=True)
class _Bench:
    """What all cells share."""

    model: Openable
    dataset: Dataset
    settings: SessionSettings
    seed: int
    clock: Clock

    def try_one(self) -> _Quick:
        start = self.clock()
        with self.open(Cell(1, 1)) as opened:
            open_s = self.clock() - start
            runs = opened.visit(0, warm=WARM_UP_RUNS, times=_QUICK_RUNS)
            return _Quick(min(run.ns for run in runs) / 1e6, open_s, opened.child.peak_bytes())

    @contextmanager
    def open(self, cell: Cell) -> Iterator[_Opened]:
        indices = self.dataset.indices_or_all(Split.EVALUATION)
        feeds = batched_feeds(self.dataset, indices, cell.batch, most=_MOST_FEEDS)
        name = f"model with {cell}"
        with open_children({name: self.model}, feeds, replace(self.settings, threads=cell.threads)) as children:
            yield _Opened(children[name], len(feeds))

    def obstacle(self, cell: Cell) -> str | None:
        """Why a cell cannot run, where that is known before it is opened."""
        if cell.batch == 1 or self.dataset.batch_obstacle is None:
            return None
        return f"Samples cannot run together: {self.dataset.batch_obstacle}."

    def conditions(self, cell: Cell) -> Conditions:
        return read_conditions(replace(self.settings, threads=cell.threads), batch=cell.batch, seed=self.seed)


@dataclass(slots=True)
class _Entry:
    """A cell while it is measured."""

    cell: Cell
    why: str | None
    run_ms: float
    runs: list[Timed] = field(default_factory=list)
    conditions: Conditions | None = None

    def visit(self, opened: _Opened, turn: int) -> None:
        """One visit; what the cell fails with is kept as its reason."""
        planned = visit_of(self.run_ms)
        try:
            runs = opened.visit(turn, warm=planned.warm, times=planned.times)
        except (RunError, CrashedError) as error:
            self.why = error.message
            return
        self.runs += runs
        self.run_ms = min(run.ns for run in runs) / 1e6

    def swept(self, seed: int, cores: int) -> SweptCell:
        latency = None
        if self.runs and self.why is None:
            latency = latency_of(self.runs, threads=self.cell.threads, seed=seed)
        return SweptCell(self.cell, latency, self.why, self.cell.threads > cores, self.conditions)


class _Run:
    """All cells while they are measured. `publish` is called after every round, and about once a second in between."""

    def __init__(self, bench: _Bench, cells: Sequence[Cell], quick: _Quick, progress: Progress) -> None:
        self.entries = [_Entry(cell, bench.obstacle(cell), quick.ms * cell.batch) for cell in cells]
        self.possible = [entry for entry in self.entries if entry.why is None]
        counted = [entry.cell for entry in self.possible]
        held = len(counted) * quick.bytes
        self.interleaved = held <= _MEMORY_SHARE * psutil.virtual_memory().available
        self.rounds = rounds_of(counted, quick.ms)
        self.estimate_s = estimate_s(counted, quick.ms, open_s=quick.open_s, interleaved=self.interleaved)
        self._bench = bench
        self._progress = progress
        self._quick = quick
        self._chance = random.Random(bench.seed)
        self._done_s = 0.0
        self._start = self._published = bench.clock()
        self._cores = usable_cores()

    def measure(self, publish: Callable[[], None]) -> None:
        """Measures every cell that can run."""
        if self.interleaved:
            self._in_turn(publish)
        else:
            self._one_by_one(publish)

    def summarize(self, limit_ms: float | None) -> Sweep:
        """What is known so far."""
        cells = tuple(entry.swept(self._bench.seed, self._cores) for entry in self.entries)
        spot, why = sweet_spot(cells, limit_ms)
        return Sweep(
            cells=cells,
            estimate_s=self.estimate_s,
            measured_s=self._bench.clock() - self._start,
            limit_ms=limit_ms,
            sweet_spot=spot,
            why=why,
            rounds=self.rounds,
            interleaved=self.interleaved,
            usable_cores=self._cores,
        )

    def _in_turn(self, publish: Callable[[], None]) -> None:
        with ExitStack() as stack:
            opened = {entry.cell: self._open(stack, entry) for entry in self.possible}
            for turn in range(self.rounds):
                self._round(turn, opened, publish)

    def _round(self, turn: int, opened: Mapping[Cell, _Opened | None], publish: Callable[[], None]) -> None:
        for entry in self._chance.sample(self.possible, len(self.possible)):
            child = opened[entry.cell]
            if child is not None and entry.why is None:
                self._visit(entry, child, turn)
            if self._bench.clock() - self._published >= _PUBLISH_S:
                self._publish(publish)
        self._publish(publish)

    def _one_by_one(self, publish: Callable[[], None]) -> None:
        visits = math.ceil(self.rounds / OPENINGS)
        for opening in range(OPENINGS):
            for entry in self._chance.sample(self.possible, len(self.possible)):
                with ExitStack() as stack:
                    child = self._open(stack, entry) if entry.why is None else None
                    for turn in range(opening * visits, min((opening + 1) * visits, self.rounds)):
                        if child is not None and entry.why is None:
                            self._visit(entry, child, turn)
                self._publish(publish)

    def _open(self, stack: ExitStack, entry: _Entry) -> _Opened | None:
        self._tell(f"open {entry.cell}")
        try:
            opened = stack.enter_context(self._bench.open(entry.cell))
            opened.visit(0, warm=WARM_UP_RUNS, times=1)
        except (RunError, CrashedError, DataError) as error:
            entry.why = error.message
            return None
        entry.conditions = entry.conditions or self._bench.conditions(entry.cell)
        self._done_s += self._quick.open_s
        return opened

    def _visit(self, entry: _Entry, opened: _Opened, turn: int) -> None:
        self._tell(f"round {turn + 1} of {self.rounds}: {entry.cell}")
        entry.visit(opened, turn)
        expected_ms = self._quick.ms * entry.cell.batch
        self._done_s += visit_of(expected_ms).runs * expected_ms / 1e3

    def _tell(self, what: str) -> None:
        total = max(1, int(1e3 * self.estimate_s))
        self._progress.step(min(int(1e3 * self._done_s), total), total, what)

    def _publish(self, publish: Callable[[], None]) -> None:
        self._published = self._bench.clock()
        publish()


def _duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{seconds / 60:.0f} min"
