"""Profiles: where the time of a model goes, layer by layer, with the latency that nobody instrumented beside it.

Two sessions of one model run in turn in random order: one plain, one tagged and with onnxruntime's profiler on. The
plain one gives `wall_ms`; the other gives each kernel's time, which its tags lead back to layers. What the profiler
costs is `overhead`; what lies between kernels is `gap_ms`. Spinning is off, so the sessions do not disturb each other.
Runs during which another process took the processor are left out. Before each timed run of a short model some runs are
not timed: the other session has just emptied the caches, which in use nobody does.
"""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from core.graph.identity import walk
from core.graph.layer import Layer, LayerTable
from core.graph.liveness import activation_peak_bytes
from core.graph.read import read_layers
from core.intake.dataset import Dataset, Split
from core.intake.model import Model, Serialized
from core.measure.advice import Advice, Seen, advise
from core.measure.calm import Basis, Timed, keep_calm, settle, time_run
from core.measure.child import open_children
from core.measure.events import RunEvents, read_runs
from core.measure.intervals import mean_ci95
from core.measure.limits import limited_by, measured_macs
from core.measure.profiled import FOLDED, NOT_RUN, LayerTime, Memory, Profile, Wall
from core.measure.spent import BUCKETS, Ledger, Spent, book, executed_forms
from core.progress import Progress, Silent
from core.runtime.attribute import TaggedSession, open_tagged
from core.runtime.conditions import Conditions
from core.runtime.machine import read_conditions
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings

Clock = Callable[[], float]
Feed = Mapping[str, np.ndarray[Any, np.dtype[Any]]]

_WARM_UP_RUNS = 3
_FEWEST_RUNS = 10
_MOST_RUNS = 100
_BUDGET_S = 4.0
_MOST_FEEDS = 32
#: Untimed runs before a timed one fill this, but for models that take longer than `_COLD_S`.
_REFILL_S, _COLD_S, _MOST_REFILLS = 0.004, 0.02, 8
#: The profiler's file grows by about 0.7 kB per kernel.
_MOST_EVENTS = 100_000


def profile_model(
    model: Model,
    table: LayerTable,
    dataset: Dataset,
    *,
    settings: SessionSettings,
    batch: int = 1,
    runs: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    clock: Clock = time.perf_counter,
) -> Profile:
    """Measures where a model's time goes.

    Args:
        model: what is measured; a candidate's nodes say by their metadata which layer they implement.
        table: the layers that the rows are keyed by (of the original, for a candidate), with the costs of one run.
        dataset: samples of the evaluation split are used (all of them where it is empty).
        settings: of both sessions.
        batch: samples per run.
        runs: runs of each session; None for as many as four seconds allow, between 10 and 100.
        seed: of the order and of the intervals.
        progress: is told how far it is.
        clock: seconds, for the time budget; a test may bring its own.

    Raises:
        RunError: the runtime refuses the model or fails on a sample.
        DataError: samples that cannot run together, with `batch` above 1.
    """
    told = progress or Silent()
    conditions = read_conditions(settings, batch=batch, seed=seed)
    feeds = _feeds(dataset, batch)
    told.phase("Open the model", start=0.0, end=0.2)
    serialized = model.serialize()
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        tagged = open_tagged(model.ir, settings, profile_prefix=Path(folder) / "profile")
        pair = _Pair(open_session(serialized, settings), tagged, feeds, settings.threads)
        told.phase("Run", start=0.2, end=0.8)
        timed = pair.run(runs, seed, told, clock)
        told.phase("Read the profile", start=0.8, end=0.9)
        every_run = pair.timed_only(read_runs(Path(tagged.session.end_profiling())), len(timed))
    told.phase("Measure memory", start=0.9, end=1.0)
    arena = max((run.arena_bytes for run in every_run if run.arena_bytes is not None), default=None)
    alive = _activation_peak(model, table, dataset.shapes(batch))
    memory = Memory(alive, arena, _process_peak(serialized, feeds[0], settings))
    ledger = book(_calm_events(every_run, timed), tagged, table)
    layers = _rows(ledger, table, executed_forms(tagged.graph.nodes, table))
    return _assemble(ledger, layers, timed, memory, conditions, samples=min(len(feeds), len(timed)) * batch)


def _feeds(dataset: Dataset, batch: int) -> list[Feed]:
    indices = dataset.indices_or_all(Split.EVALUATION)
    chunks = [indices[start : start + batch] for start in range(0, len(indices), batch)][:_MOST_FEEDS]
    whole = [chunk for chunk in chunks if len(chunk) == batch]
    if not whole:
        whole = [tuple(indices[position % len(indices)] for position in range(batch))]
    return [dataset.batch(chunk) for chunk in whole]


class _Both(NamedTuple):
    """One run of each session."""

    plain: Timed
    tagged: Timed


class _Pair:
    """The plain and the instrumented session, run in turn."""

    def __init__(self, plain: Session, tagged: TaggedSession, feeds: Sequence[Feed], threads: int) -> None:
        self._sessions = {"plain": plain, "tagged": tagged.session}
        self._kernels = max(1, len(tagged.graph.nodes))
        self._feeds = feeds
        self._threads = threads
        self._refills = 0

    def run(self, runs: int | None, seed: int, progress: Progress, clock: Clock) -> list[_Both]:
        """Runs both in turn, after a warm-up of each that is not returned."""
        for turn in range(_WARM_UP_RUNS):
            last = [self._time(session, turn) for session in self._sessions.values()]
        seconds = min(timing.ns for timing in last) / 1e9
        self._refills = min(_MOST_REFILLS, math.ceil(_REFILL_S / max(seconds, 1e-6))) if seconds < _COLD_S else 0
        chance, order, timed = random.Random(seed), list(self._sessions), list[_Both]()
        most = runs or max(_FEWEST_RUNS, min(_MOST_RUNS, _MOST_EVENTS // (self._kernels * (self._refills + 1))))
        start = clock()
        for turn in range(most):
            if runs is None and turn >= _FEWEST_RUNS and clock() - start > _BUDGET_S:
                break
            progress.step(turn, most, f"run {turn + 1}")
            chance.shuffle(order)
            spent = {name: self._time(self._sessions[name], turn) for name in order}
            timed.append(_Both(**spent))
        return timed

    def timed_only(self, events: Sequence[RunEvents], count: int) -> list[RunEvents]:
        """Of the profiler's runs the timed ones, without warm-up and refills."""
        each = self._refills + 1
        return list(events[-count * each :][self._refills :: each])

    def _time(self, session: Session, turn: int) -> Timed:
        feed = self._feeds[turn % len(self._feeds)]
        for _ in range(self._refills):
            run_session(session, feed)
        return time_run(partial(run_session, session, feed), threads=self._threads)


def _calm_events(events: Sequence[RunEvents], timed: Sequence[_Both]) -> list[RunEvents]:
    """Runs in which nobody was disturbed, where they are enough; times of layers are medians and stand the rest."""
    both = list(zip(events, timed, strict=True))
    return [run for run, _ in keep_calm(both, lambda pair: pair[1].tagged.disturbed) or both]


def _rows(ledger: Ledger, table: LayerTable, forms: Mapping[str, str]) -> tuple[LayerTime, ...]:
    """One row per layer of the table, those without time included."""
    everything = (*ledger.layers.values(), *ledger.buckets.values())
    kernel_ms = sum(spent.typical_ms(ledger.runs) for spent in everything)
    return tuple(_row(layer, ledger, forms.get(layer.id), kernel_ms) for layer in table)


def _row(layer: Layer, ledger: Ledger, form: str | None, kernel_ms: float) -> LayerTime:
    spent = ledger.layers.get(layer.id) or Spent()
    ms, executions, moved = spent.typical_ms(ledger.runs), spent.typical_executions(ledger.runs), spent.typical_bytes()
    macs = layer.macs
    if macs is None and layer.id in ledger.kernel_of:
        macs = measured_macs(layer.op_type, ledger.kernel_of[layer.id])
    shown = FOLDED if form is None else form if executions else f"{form} ({NOT_RUN})"
    return LayerTime(
        layer=layer,
        ms=ms,
        share=ms / kernel_ms if kernel_ms > 0 else 0.0,
        macs=macs,
        moved_bytes=moved,
        limited_by=limited_by(ms, executions, macs, moved),
        executes_as=shown,
        runs=executions,
    )


def _assemble(
    ledger: Ledger,
    layers: tuple[LayerTime, ...],
    timed: Sequence[_Both],
    memory: Memory,
    conditions: Conditions,
    *,
    samples: int,
) -> Profile:
    buckets = {name: ledger.buckets[name].typical_ms(ledger.runs) for name in BUCKETS}
    plain, basis = settle([both.plain for both in timed], threads=conditions.threads)
    return Profile(
        wall=_wall(np.array(plain) / 1e6, basis, conditions.seed),
        gap_ms=ledger.gap_ms,
        layers=layers,
        buckets=buckets,
        memory=memory,
        advice=_advice(layers, buckets, timed),
        runs=len(timed),
        disturbed=_disturbed(timed),
        samples=samples,
        conditions=conditions,
    )


def _wall(walls: np.ndarray[Any, np.dtype[Any]], basis: Basis, seed: int) -> Wall:
    return Wall(
        median_ms=float(np.median(walls)),
        mean_ms=float(walls.mean()),
        ci95_ms=mean_ci95(walls, seed=seed),
        p95_ms=float(np.percentile(walls, 95)),
        basis=basis,
    )


def _disturbed(timed: Sequence[_Both]) -> int:
    return sum(both.plain.disturbed for both in timed)


def _advice(layers: Sequence[LayerTime], buckets: Mapping[str, float], timed: Sequence[_Both]) -> tuple[Advice, ...]:
    kernel_ms = sum(row.ms for row in layers) + sum(buckets.values())
    rows = [(row.layer.id, row.layer.op_type, row.ms, row.limited_by) for row in layers]
    return advise(Seen(kernel_ms, len(timed), _disturbed(timed), buckets, rows))


def _activation_peak(model: Model, table: LayerTable, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """From the model's own layers: a candidate's are not those of the table."""
    own = [layer.id for layer in walk(model.ir)] == [layer.id for layer in table]
    return activation_peak_bytes(model, table if own else read_layers(model, shapes=shapes))


def _process_peak(model: Serialized, feed: Feed, settings: SessionSettings) -> int:
    """Peak resident memory of a process that opens the model and runs one sample twice."""
    with open_children({"model": model}, [feed], settings) as children:
        child = children["model"]
        child.run(0, times=2)
        return child.peak_bytes()
