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
from pathlib import Path
from typing import NamedTuple

from core.graph.layer import LayerTable
from core.intake.dataset import Dataset, Split
from core.intake.model import Model, Serialized
from core.measure.assemble import Measured, assemble
from core.measure.events import read_runs
from core.measure.instrumented import Clock, Feed, Pair
from core.measure.memory_use import measure_memory
from core.measure.profiled import Cold, Profile
from core.progress import Progress, Silent
from core.runtime.attribute import open_tagged
from core.runtime.machine import read_conditions
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings

_MOST_FEEDS = 32


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
    measured = _measure(model, feeds, settings, _Plan(runs, seed, clock), told)
    told.phase("Measure memory", start=0.9, end=1.0)
    shapes = dataset.shapes(batch)
    memory = measure_memory(model, table, shapes, runs=measured.every_run, feed=feeds[0], settings=settings)
    return assemble(measured, memory, table, conditions, samples=min(len(feeds), len(measured.timed)) * batch)


class _Plan(NamedTuple):
    """How many runs, in which order, by which clock."""

    runs: int | None
    seed: int
    clock: Clock


def _measure(
    model: Model, feeds: Sequence[Feed], settings: SessionSettings, plan: _Plan, progress: Progress
) -> Measured:
    progress.phase("Open the model", start=0.0, end=0.2)
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        plain, cold = _open_cold(model.serialize(), settings, feeds[0])
        tagged = open_tagged(model.ir, settings, profile_prefix=Path(folder) / "profile")
        pair = Pair(plain, tagged, feeds, settings.threads)
        progress.phase("Run", start=0.2, end=0.8)
        timed = pair.run(plan.runs, plan.seed, progress, plan.clock)
        progress.phase("Read the profile", start=0.8, end=0.9)
        every_run = pair.timed_only(read_runs(Path(tagged.session.end_profiling())), len(timed))
    return Measured(tagged, tuple(timed), tuple(every_run), cold)


def _feeds(dataset: Dataset, batch: int) -> list[Feed]:
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
