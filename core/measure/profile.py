"""Profiles: where the time of a model goes, layer by layer, with the latency that nobody instrumented beside it.

Two sessions of one model run in turn in random order: one plain, one tagged and with onnxruntime's profiler on. The
plain one gives `wall_ms`; the other gives each kernel's time, which its tags lead back to layers. What the profiler
costs is `overhead`; what lies between kernels is `gap_ms`. Both are opened several times, since each opening has a
speed of its own. Runs during which another process took the processor are left out.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.errors import RunError
from core.graph.layer import LayerTable
from core.intake.dataset import Dataset, Split
from core.intake.model import Model, Serialized
from core.measure.assemble import Measured, assemble
from core.measure.events import RunEvents, read_runs
from core.measure.first_run import RunLimits, run_first
from core.measure.instrumented import Both, Clock, Feed, Pair, Plan, RoundPlan
from core.measure.layer_rows import layer_rows
from core.measure.memory_use import measure_memory, process_peak, with_arena
from core.measure.profiled import Cold, LayerTime, Profile
from core.measure.profiler_probe import Probe, ProfilerProbe
from core.measure.roofline import Roofline
from core.measure.so_far import SoFar
from core.measure.spent import book
from core.progress import Progress, Silent
from core.runtime.attribute import TaggedSession, open_tagged, reopen_tagged
from core.runtime.machine import read_conditions
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings
from core.runtime.tags import tag_model
from core.runtime.told import retell

_MOST_FEEDS = 32
#: Of models that take longer than this, the layers' times of a first run are published before all others.
_LONG_RUN_MS = 500.0


def profile_model(
    model: Model,
    table: LayerTable,
    dataset: Dataset,
    *,
    settings: SessionSettings,
    batch: int = 1,
    runs: int | None = None,
    seed: int = 0,
    budget_s: float | None = None,
    limits: RunLimits | None = None,
    roofline: Roofline | None = None,
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
        runs: runs of each session, over all openings; None for as many as the budget allows.
        seed: of the order and of the intervals.
        budget_s: seconds after which no further run begins; None for four seconds and at least ten runs.
        limits: of one run: given, the model is first run in a process of its own that may die, and what is known so
            far is published as pieces of kind "profile". For models that nobody has run before.
        roofline: what this machine can do at most, which the layers are held against; None where it is not known.
        progress: is told how far it is.
        clock: seconds, for the time budget; a test may bring its own.

    Raises:
        RunError: the runtime refuses the model or fails on a sample; with `limits` as `run_first`.
        DataError: samples that cannot run together, with `batch` above 1.
    """
    told = progress or Silent()
    conditions = read_conditions(settings, batch=batch, seed=seed)
    feeds = choose_feeds(dataset, batch)
    given = Given(model, table, feeds, settings)
    so_far = SoFar(told if limits else Silent(), conditions)
    so_far.structure(table)
    memory = measure_memory(model, table, dataset.shapes(batch), process_peak_bytes=None)
    so_far.memory(memory)
    told.phase("Run it alone", start=0.0, end=0.2)
    peak = run_first(model, feeds, settings, limits, told) if limits else process_peak(model, feeds[0], settings)
    memory = replace(memory, process_peak_bytes=peak)
    so_far.memory(memory)
    measured = measure(given, Plan(runs, seed, clock, budget_s), told, so_far)
    memory = with_arena(memory, measured.every_run)
    samples = len({both.turn % len(feeds) for both in measured.timed}) * batch
    return assemble(measured, memory, table, conditions, samples=samples, roofline=roofline)


class Given(NamedTuple):
    """What is measured, and how it is run."""

    model: Model
    table: LayerTable
    feeds: Sequence[Feed]
    settings: SessionSettings


def measure(given: Given, plan: Plan, progress: Progress, so_far: SoFar) -> Measured:
    """Runs the plain and the instrumented session by a plan, in rounds; each opens both anew.

    Raises:
        RunError: the runtime refuses the model or fails on a feed; told by the names of layers.
    """
    progress.phase("Open the model", start=0.2, end=0.3)
    try:
        with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
            return _Rounds(given, plan, Path(folder), so_far).run(progress)
    except RunError as error:
        raise retell(error, tag_model(given.model.ir)) from error


class _Rounds:
    """A model runs faster or slower by where an opening happens to put its memory: so there are several openings."""

    def __init__(self, given: Given, plan: Plan, folder: Path, so_far: SoFar) -> None:
        self._given, self._plan, self._folder, self._so_far = given, plan, folder, so_far
        self._timed: list[Both] = []
        self._every_run: list[RunEvents] = []
        self._probes: list[Probe] = []

    def run(self, progress: Progress) -> Measured:
        """All rounds, within the time of the plan."""
        given, plan = self._given, self._plan
        plain, cold = _open_cold(given.model.serialize(), given.settings, given.feeds[0])
        self._so_far.cold(cold)
        if cold.first_run_ms > _LONG_RUN_MS:
            self._so_far.layers(_first_layers(given, self._folder / "first"))
        tagged = open_tagged(given.model.ir, given.settings, profile_prefix=self._folder / "profile0")
        count = plan.rounds(2 * (cold.load_ms + plan.warm_up * cold.first_run_ms) / 1e3)
        progress.phase("Run", start=0.3, end=1.0)
        spent = 0.0
        for number in range(count):
            start = plan.clock()
            if number:
                plain = open_session(given.model.serialize(), given.settings)
                prefix = self._folder / f"profile{number}"
                tagged = reopen_tagged(tagged, given.model.ir, given.settings, profile_prefix=prefix)
            opened = plan.clock() - start
            part = plan.of_round(number, count, max(0.0, (plan.seconds - spent) / (count - number) - opened))
            pair = Pair(plain, tagged, given.feeds, given.settings.threads)
            timed, took = self._round(pair, part, progress)
            spent += opened + took
            self._read(pair, tagged, timed)
        return Measured(tagged, tuple(self._timed), tuple(self._every_run), cold, tuple(self._probes))

    def _round(self, pair: Pair, plan: RoundPlan, progress: Progress) -> tuple[list[Both], float]:
        before, first_turn = list(self._timed), self._timed[-1].turn + 1 if self._timed else 0
        with ProfilerProbe(self._given.settings) as probe:
            told = [lambda timed: self._so_far.runs([*before, *timed]), lambda _: probe.sample()]
            start = plan.whole.clock()
            timed = pair.run(plan, progress, told, first_turn=first_turn)
            took = plan.whole.clock() - start
            self._probes.append(probe.read())
        return timed, took

    def _read(self, pair: Pair, tagged: TaggedSession, timed: Sequence[Both]) -> None:
        """Reads the profiler's file, which does not count as time of running."""
        path = Path(tagged.session.end_profiling())
        self._every_run += pair.timed_only(read_runs(path), timed)
        self._timed += timed
        path.unlink()


def _first_layers(given: Given, prefix: Path) -> tuple[LayerTime, ...]:
    """The times of one run, to be shown while many more are made: the profiler tells nothing before it is ended."""
    tagged = open_tagged(given.model.ir, given.settings, profile_prefix=prefix)
    run_session(tagged.session, given.feeds[0])
    ledger = book(read_runs(Path(tagged.session.end_profiling())), tagged, given.table)
    return layer_rows(ledger, given.table, tagged.graph.nodes)


def choose_feeds(dataset: Dataset, batch: int) -> list[Feed]:
    """What a profile runs: samples of the evaluation split, of all where it is empty, `batch` at a time."""
    indices = dataset.indices_or_all(Split.EVALUATION)
    chunks = [indices[start : start + batch] for start in range(0, len(indices), batch)][:_MOST_FEEDS]
    whole = [chunk for chunk in chunks if len(chunk) == batch]
    if not whole:
        whole = [tuple(indices[position % len(indices)] for position in range(batch))]
    return [dataset.batch(chunk) for chunk in whole]


def _open_cold(model: Serialized, settings: SessionSettings, feed: Feed) -> tuple[Session, Cold]:
    """Opens the plain session and runs it once: what whoever starts the model waits for."""
    start = time.perf_counter_ns()
    session = open_session(model, settings)
    opened = time.perf_counter_ns()
    run_session(session, feed)
    return session, Cold((opened - start) / 1e6, (time.perf_counter_ns() - opened) / 1e6)
