"""A measured profile as a value: rows of layers, buckets, wall time, memory and advice; and the document of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from core.graph.layer import Layer
from core.graph.liveness import Liveness, nothing_known
from core.measure.advice import Advice, advise
from core.measure.calm import Basis
from core.measure.intervals import Interval
from core.measure.limits import Limit, Reached
from core.measure.roofline import Roofline
from core.measure.seen import Known, Seen
from core.measure.timeline import Timeline
from core.runtime.conditions import Conditions

FOLDED = "folded away"
NOT_RUN = "not run on this data"


@dataclass(frozen=True, slots=True)
class LayerTime:
    """One layer's row. `ms` per run; `runs` executions per run; `moved_bytes` what its kernels read and wrote.

    `raw_ms` is the time as the profiler recorded it, with what recording cost; `ms` is without that.
    `precision` is what its kernel really computes in; None where it runs no kernel or works on no such numbers.
    """

    layer: Layer
    ms: float
    share: float
    macs: int | None
    moved_bytes: int | None
    reached: Reached
    executes_as: str
    runs: float
    precision: str | None = None
    raw_ms: float = 0.0

    @property
    def limited_by(self) -> Limit | None:
        """What bounds it."""
        return self.reached.limited_by

    def to_dict(self) -> dict[str, Any]:
        """As in the `profile` document."""
        return {
            "id": self.layer.id,
            "group": self.layer.group,
            "op": self.layer.op_type,
            "ms": self.ms,
            "share": self.share,
            "macs": self.macs,
            "bytes": self.moved_bytes,
            "intensity": self.reached.intensity,
            "gflops": self.reached.gflops,
            "attained": self.reached.attained,
            "limited_by": self.limited_by,
            "executes_as": self.executes_as,
            "runs": int(self.runs) if self.runs == int(self.runs) else self.runs,
            "precision": self.precision,
            "raw_ms": self.raw_ms,
        }


@dataclass(frozen=True, slots=True)
class Wall:
    """Un-instrumented latency of one run in ms; `ci95_ms` is that of the mean.

    `basis` is "processor" where other processes took the processor during nearly every run: these are then processor
    times, which nobody else lengthens.
    """

    median_ms: float
    mean_ms: float
    ci95_ms: Interval
    p95_ms: float
    basis: Basis = "wall"

    def to_dict(self) -> dict[str, Any]:
        """The `wall_ms` object."""
        figures = {"median": self.median_ms, "mean": self.mean_ms, "ci95": list(self.ci95_ms), "p95": self.p95_ms}
        return {**figures, "basis": self.basis}


@dataclass(frozen=True, slots=True)
class Cold:
    """What whoever starts the model waits for, un-instrumented: opening its session, and the first run after that."""

    load_ms: float
    first_run_ms: float


@dataclass(frozen=True, slots=True)
class ProfilerShare:
    """What the profiler itself cost in an instrumented run.

    `ms` in all, of which `inside_ms` were taken out of kernels; `per_kernel_us` for recording one of `kernels`.
    """

    ms: float
    inside_ms: float
    per_kernel_us: float
    kernels: float


@dataclass(frozen=True, slots=True)
class Memory:
    """What the activations need by the graph, and peaks in bytes; None where not known.

    The peaks are those of what the runtime's arena held, and of the resident memory of a process that only runs the
    model.
    """

    activations: Liveness | None
    arena_peak_bytes: int | None
    process_peak_bytes: int | None

    def to_dict(self) -> dict[str, Any]:
        """The `memory` object."""
        peaks = {"arena_peak_bytes": self.arena_peak_bytes, "process_peak_bytes": self.process_peak_bytes}
        return {**(nothing_known() if self.activations is None else self.activations.to_dict()), **peaks}


@dataclass(frozen=True)
class Profile:
    """A measured profile: `instrumented_ms` = sum of layers + sum of buckets + `gap_ms`.

    `instrumented_run_ms` is the median wall time of the instrumented runs as it was measured, whatever the sums say.

    Kernels' times are without what the profiler cost in them. `gap_ms` is the rest of the instrumented run: the runtime
    between kernels, and the profiler. Of `runs` runs, another process took the processor during `disturbed`: these are
    left out of `wall`, unless nearly all were so. `roofline` is what the layers were held against.
    """

    wall: Wall
    cold: Cold
    instrumented_run_ms: float
    profiler: ProfilerShare
    gap_ms: float
    layers: tuple[LayerTime, ...]
    buckets: Mapping[str, float]
    memory: Memory
    seen: Seen = field(repr=False)
    timeline: Timeline
    runs: int
    disturbed: int
    samples: int
    conditions: Conditions
    roofline: Roofline | None = None

    @cached_property
    def advice(self) -> tuple[Advice, ...]:
        """What somebody could do about what was seen."""
        return advise(self.seen)

    def knowing(self, known: Known) -> Profile:
        """The same profile, whose advice counts in what is known besides it."""
        return replace(self, seen=replace(self.seen, known=known))

    @property
    def kernel_ms(self) -> float:
        """Time in kernels: all layers and all buckets."""
        return sum(row.ms for row in self.layers) + sum(self.buckets.values())

    @property
    def instrumented_ms(self) -> float:
        """Time of a run with the profiler on."""
        return self.kernel_ms + self.gap_ms

    @property
    def overhead(self) -> float:
        """How much longer a run takes with the profiler on: `instrumented_ms` over the median without it."""
        return self.instrumented_ms / self.wall.median_ms if self.wall.median_ms > 0 else 1.0

    @property
    def attributed_share(self) -> float:
        """Share of the kernels' time that is on a layer or a named bucket."""
        return 1 - self.buckets["unattributed"] / self.kernel_ms if self.kernel_ms > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        """The `profile` document, with conditions."""
        return {
            "wall_ms": self.wall.to_dict(),
            "cold": asdict(self.cold),
            "instrumented_ms": self.instrumented_ms,
            "instrumented_run_ms": self.instrumented_run_ms,
            "overhead": self.overhead,
            "kernel_ms": self.kernel_ms,
            "attributed_share": self.attributed_share,
            "gap_ms": self.gap_ms,
            "profiler": asdict(self.profiler),
            "layers": [row.to_dict() for row in self.layers],
            "buckets": dict(self.buckets),
            "memory": self.memory.to_dict(),
            "advice": [advice.to_dict() for advice in self.advice],
            "timeline": self.timeline.to_dict(),
            "runs": self.runs,
            "disturbed": self.disturbed,
            "samples": self.samples,
            "roofline": None if self.roofline is None else self.roofline.to_dict(),
            "conditions": self.conditions.to_dict(),
        }
