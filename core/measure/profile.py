"""Profiles: where the time of a model goes, layer by layer, with the latency that nobody instrumented beside it.

Two sessions of one model run in turn in random order: one plain, one tagged and with onnxruntime's profiler on. The
plain one gives `wall_ms`; the other gives each kernel's time, which its tags lead back to layers. What the profiler
costs is `overhead`; what lies between kernels is `gap_ms`. Runs during which another process took the processor are
left out.
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
from core.measure.events import read_runs
from core.measure.first_run import RunLimits, run_first
from core.measure.instrumented import Clock, Feed, Pair, Plan
from core.measure.layer_rows import layer_rows
from core.measure.memory_use import measure_memory, process_peak, with_arena
from core.measure.profiled import Cold, LayerTime, Profile
from core.measure.profiler_probe import ProfilerProbe
from core.measure.roofline import Roofline
from core.measure.so_far import SoFar
from core.measure.spent import book
from core.progress import Progress, Silent
from core.runtime.attribute import open_tagged
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
        runs: runs of each session; None for as many as the budget allows, at most 100.
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
    samples = min(len(feeds), len(measured.timed)) * batch
    return assemble(measured, memory, table, conditions, samples=samples, roofline=roofline)


class Given(NamedTuple):
    """What is measured, and how it is run."""

    model: Model
    table: LayerTable
    feeds: Sequence[Feed]
    settings: SessionSettings


def measure(given: Given, plan: Plan, progress: Progress, so_far: SoFar) -> Measured:
    """Runs the plain and the instrumented session by a plan.

    Raises:
        RunError: the runtime refuses the model or fails on a feed; told by the names of layers.
    """
    model, feeds, settings = given.model, given.feeds, given.settings
    progress.phase("Open the model", start=0.2, end=0.3)
    try:
        with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder, ProfilerProbe(settings) as probe:
            plain, cold = _open_cold(model.serialize(), settings, feeds[0])
            so_far.cold(cold)
            if cold.first_run_ms > _LONG_RUN_MS:
                so_far.layers(_first_layers(given, Path(folder) / "first"))
            tagged = open_tagged(model.ir, settings, profile_prefix=Path(folder) / "profile")
            pair = Pair(plain, tagged, feeds, settings.threads)
            progress.phase("Run", start=0.3, end=0.9)
            timed = pair.run(plan, progress, [so_far.runs, lambda _: probe.sample()])
            progress.phase("Read the profile", start=0.9, end=1.0)
            every_run = pair.timed_only(read_runs(Path(tagged.session.end_profiling())), len(timed))
            shown = probe.read()
    except RunError as error:
        raise retell(error, tag_model(model.ir)) from error
    return Measured(tagged, tuple(timed), tuple(every_run), cold, shown)


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
