"""Assembling: a profile out of what was measured, stage by stage: rows, buckets, wall time, timeline, advice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from statistics import median
from typing import Any, NamedTuple, Self

import numpy as np

from core.graph.layer import LayerTable
from core.measure.calm import Basis, Timed, keep_calm, settle
from core.measure.events import RunEvents
from core.measure.instrumented import Both
from core.measure.intervals import mean_ci95
from core.measure.kernel_times import KernelTimes, typical_times
from core.measure.layer_rows import layer_rows
from core.measure.looked_at import Measures, look, seen_kernels
from core.measure.places import Places
from core.measure.profiled import Cold, Memory, Profile, ProfilerShare, Wall
from core.measure.profiler_cost import calibrate
from core.measure.profiler_probe import Probe
from core.measure.roofline import Roofline
from core.measure.rounds import Round, join_rounds
from core.measure.spent import BUCKETS, book_times
from core.measure.timeline import Timeline, read_timeline
from core.runtime.attribute import TaggedSession
from core.runtime.conditions import Conditions
from core.runtime.tags import CONTAINERS


class Measured(NamedTuple):
    """What the two sessions of a profile gave: the timed runs of both, and the profiler's events of each.

    There is a probe for every round.
    """

    tagged: TaggedSession
    timed: tuple[Both, ...]
    every_run: tuple[RunEvents, ...]
    cold: Cold
    probes: tuple[Probe, ...]

    @property
    def disturbed(self) -> int:
        """Plain runs during which another process took the processor."""
        return sum(both.plain.disturbed for both in self.timed)

    def of_round(self, number: int) -> Measured:
        """What one opening of the sessions gave."""
        here = [both.round == number for both in self.timed]
        return self._replace(
            timed=tuple(compress(self.timed, here)),
            every_run=tuple(compress(self.every_run, here)),
            probes=(self.probes[number],),
        )


def assemble(
    measured: Measured,
    memory: Memory,
    table: LayerTable,
    conditions: Conditions,
    *,
    samples: int,
    roofline: Roofline | None = None,
) -> Profile:
    """Joins the runs with the layers of `table`; `samples` is how many different ones were run."""
    runs = Instrumented.choose(measured, threads=conditions.threads)
    rounds = [measured.of_round(number) for number in sorted({both.round for both in measured.timed})]
    times, cost = join_rounds([_as_round(one, threads=conditions.threads) for one in rounds], runs.typical())
    ledger = book_times(times, measured.tagged, table, cost)
    layers = layer_rows(ledger, table, measured.tagged.graph.nodes, roofline)
    buckets = {name: ledger.buckets[name].ms for name in BUCKETS}
    wall, runs_made = wall_of(measured.timed, conditions), len(measured.timed)
    measures = Measures(layers, buckets, wall, measured.cold, runs_made, measured.disturbed, conditions)
    return Profile(
        wall=wall,
        cold=measured.cold,
        instrumented_run_ms=times.run_us / 1e3,
        profiler=ProfilerShare(
            ms=times.executions * cost.record_us / 1e3,
            inside_ms=times.kernel_us / 1e3 - ledger.kernel_ms,
            per_kernel_us=cost.record_us,
            kernels=times.executions,
        ),
        gap_ms=ledger.gap_ms,
        layers=layers,
        buckets=buckets,
        memory=memory,
        seen=look(measures, seen_kernels(times, cost, measured.tagged, table), table),
        timeline=_timeline(runs.events, measured.tagged, table),
        runs=runs_made,
        disturbed=measured.disturbed,
        samples=samples,
        conditions=conditions,
        roofline=roofline,
    )


class Instrumented(NamedTuple):
    """The instrumented runs that count: undisturbed ones where they are enough, else all.

    `walls_us` as measured from outside; `levels_us` what a run's time is taken to be (processor time where there never
    was peace); `extra_share` of it is what the plain runs beside them did without (the median over pairs).
    """

    events: tuple[RunEvents, ...]
    walls_us: tuple[float, ...]
    levels_us: tuple[float, ...]
    extra_share: float

    def typical(self) -> KernelTimes:
        """What they take on average."""
        return typical_times(self.events, self.walls_us, self.levels_us)

    @classmethod
    def choose(cls, measured: Measured, *, threads: int) -> Self:
        """Picks them by the same rule as the plain runs."""
        every = list(zip(measured.every_run, measured.timed, strict=True))
        calm = keep_calm(every, lambda pair: pair[1].tagged.disturbed)
        kept = calm or every
        by_processor = not calm and threads == 1
        beside = keep_calm(kept, lambda pair: pair[1].plain.disturbed) or kept
        return cls(
            events=tuple(events for events, _ in kept),
            walls_us=tuple(both.tagged.ns / 1e3 for _, both in kept),
            levels_us=tuple(_took(both.tagged, by_processor) / 1e3 for _, both in kept),
            extra_share=median(
                1 - _took(both.plain, by_processor) / _took(both.tagged, by_processor) for _, both in beside
            ),
        )


def _as_round(measured: Measured, *, threads: int) -> Round:
    """What one opening shows, by its own calm runs and its own probe."""
    runs = Instrumented.choose(measured, threads=threads)
    times = runs.typical()
    return Round(times, calibrate(times, runs.extra_share * times.run_us, measured.probes[0]))


def _took(timed: Timed, by_processor: bool) -> float:
    return max(1.0, timed.cpu_ns if by_processor else timed.ns)


def wall_of(timed: Sequence[Both], conditions: Conditions) -> Wall:
    """The latency, from the plain runs."""
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
    places = Places(tagged, middle.kernels)
    containers = {
        name: node.layers[0] for (_, name), node in tagged.by_name.items() if node.op_type in CONTAINERS and node.layers
    }
    return read_timeline(middle, [places.find(kernel) for kernel in middle.kernels], containers, table)
