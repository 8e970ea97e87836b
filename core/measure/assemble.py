"""Assembling: a profile out of what was measured, stage by stage: rows, buckets, wall time, timeline, advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from core.graph.layer import LayerTable
from core.measure.advice import Advice, Seen, advise
from core.measure.calm import Basis, keep_calm, settle
from core.measure.events import RunEvents
from core.measure.instrumented import Both
from core.measure.intervals import mean_ci95
from core.measure.layer_rows import layer_rows
from core.measure.profiled import Cold, LayerTime, Memory, Profile, Wall
from core.measure.spent import BUCKETS, Places, book
from core.measure.timeline import Timeline, read_timeline
from core.runtime.attribute import TaggedSession
from core.runtime.conditions import Conditions
from core.runtime.tags import CONTAINERS


class Measured(NamedTuple):
    """What the two sessions of a profile gave: the timed runs of both, and the profiler's events of each."""

    tagged: TaggedSession
    timed: tuple[Both, ...]
    every_run: tuple[RunEvents, ...]
    cold: Cold

    @property
    def disturbed(self) -> int:
        """Plain runs during which another process took the processor."""
        return sum(both.plain.disturbed for both in self.timed)


def assemble(measured: Measured, memory: Memory, table: LayerTable, conditions: Conditions, *, samples: int) -> Profile:
    """Joins the runs with the layers of `table`; `samples` is how many different ones were run."""
    runs = _calm_runs(measured)
    ledger = book(runs, measured.tagged, table)
    layers = layer_rows(ledger, table, measured.tagged.graph.nodes)
    buckets = {name: ledger.buckets[name].typical_ms(ledger.runs) for name in BUCKETS}
    return Profile(
        wall=_wall(measured.timed, conditions),
        cold=measured.cold,
        instrumented_run_ms=float(np.median([run.wall_us for run in runs])) / 1e3,
        gap_ms=ledger.gap_ms,
        layers=layers,
        buckets=buckets,
        memory=memory,
        advice=_advice(layers, buckets, measured),
        timeline=_timeline(runs, measured.tagged, table),
        runs=len(measured.timed),
        disturbed=measured.disturbed,
        samples=samples,
        conditions=conditions,
    )


def _calm_runs(measured: Measured) -> list[RunEvents]:
    """Runs in which nobody was disturbed, where they are enough; times of layers are medians and stand the rest."""
    both = list(zip(measured.every_run, measured.timed, strict=True))
    return [run for run, _ in keep_calm(both, lambda pair: pair[1].tagged.disturbed) or both]


def _wall(timed: Sequence[Both], conditions: Conditions) -> Wall:
    plain, basis = settle([both.plain for both in timed], threads=conditions.threads)
    return _as_wall(np.array(plain) / 1e6, basis, conditions.seed)


def _as_wall(walls: np.ndarray[Any, np.dtype[Any]], basis: Basis, seed: int) -> Wall:
    return Wall(
        median_ms=float(np.median(walls)),
        mean_ms=float(walls.mean()),
        ci95_ms=mean_ci95(walls, seed=seed),
        p95_ms=float(np.percentile(walls, 95)),
        basis=basis,
    )


def _timeline(runs: Sequence[RunEvents], tagged: TaggedSession, table: LayerTable) -> Timeline:
    """Of the run with the median wall time."""
    middle = sorted(runs, key=lambda run: run.wall_us)[(len(runs) - 1) // 2]
    places = Places(tagged)
    containers = {
        name: node.layers[0] for (_, name), node in tagged.by_name.items() if node.op_type in CONTAINERS and node.layers
    }
    return read_timeline(middle, [places.find(kernel) for kernel in middle.kernels], containers, table)


def _advice(layers: Sequence[LayerTime], buckets: Mapping[str, float], measured: Measured) -> tuple[Advice, ...]:
    kernel_ms = sum(row.ms for row in layers) + sum(buckets.values())
    rows = [(row.layer.id, row.layer.op_type, row.ms, row.limited_by) for row in layers]
    return advise(Seen(kernel_ms, len(measured.timed), measured.disturbed, buckets, rows))
