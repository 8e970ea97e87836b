"""Seen: what the rules of the advice look at - layers and kernels with their times, and what is known besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from core.measure.limits import Limit
from core.recipe.precision import Precision, Support
from core.recipe.resolve import ABSORBED, RESCALING, SCALE_KEEPING, WEIGHTED

INT8, FP32 = str(Precision.INT8), str(Precision.FP32)

#: Kernels that only convert between floating point and 8-bit integers.
CONVERTING = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})


@dataclass(frozen=True, slots=True)
class SeenLayer:
    """One layer: milliseconds and executions per run, what bounds it, what its kernel computes in, what it reaches.

    `group` is the id of the group that shares its precision; `feeders` and `readers` are the layers around it.
    `attained` (0..1) is the share of what this machine could do, `gflops` what it reached; None where not known.
    """

    id: str
    op: str
    ms: float
    limited_by: Limit | None = None
    runs: float = 1.0
    precision: str | None = None
    group: str = ""
    feeders: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    attained: float | None = None
    gflops: float | None = None


@dataclass(frozen=True, slots=True)
class SeenKernel:
    """One kernel of the optimized graph: milliseconds per run, the layers in it or its bucket, what goes in and out.

    `reads` and `writes` are keys of the numbers that are computed at run time (not of shapes and indices). `types` are
    the element types of what it reads, then of what it writes. `precision` is what it computes in; None where it only
    converts, or works on no such numbers. `ends` says whether it reads an input or writes an output of its graph.
    """

    op: str
    ms: float
    layers: tuple[str, ...] = ()
    bucket: str | None = None
    precision: str | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    ends: bool = False

    @property
    def converts(self) -> bool:
        """Whether it only quantizes or dequantizes."""
        return self.op in CONVERTING


@dataclass(frozen=True, slots=True)
class Planned:
    """What a plan says of a layer: what was asked for, what was decided, and why."""

    requested: str
    precision: str
    why: str


@dataclass(frozen=True, slots=True)
class SweptTime:
    """One measured cell of a sweep: mean latency in ms with its interval, samples per second."""

    threads: int
    batch: int
    mean_ms: float
    ci95_ms: tuple[float, float]
    throughput: float


@dataclass(frozen=True, slots=True)
class Known:
    """What is known besides the profile.

    `offered`: operator -> what this machine does with it in int8 (None: nobody asked the machine). `plan`: layer ->
    what a recipe decided, for a candidate. `swept`: cells of a sweep of this model and data.
    """

    offered: Mapping[str, Support] | None = None
    plan: Mapping[str, Planned] = field(default_factory=dict)
    swept: Sequence[SweptTime] = ()


@dataclass(frozen=True)
class Seen:
    """All of it; milliseconds per run. `x86` says whether the processor is of that kind; `cores` are usable ones."""

    kernel_ms: float
    layers: Sequence[SeenLayer]
    buckets: Mapping[str, float]
    kernels: Sequence[SeenKernel] = ()
    runs: int = 0
    disturbed: int = 0
    wall_ms: float | None = None
    load_ms: float | None = None
    first_run_ms: float | None = None
    threads: int = 1
    batch: int = 1
    cores: int = 1
    x86: bool = False
    known: Known = field(default_factory=Known)

    def share(self, ms: float) -> float:
        """Of the time in kernels."""
        return ms / self.kernel_ms if self.kernel_ms > 0 else 0.0

    @cached_property
    def layer(self) -> Mapping[str, SeenLayer]:
        """Layers by their id."""
        return {layer.id: layer for layer in self.layers}

    def lowers(self, layer: SeenLayer) -> bool:
        """Whether this version can give the layer a static int8 form that this machine executes.

        Where nobody asked the machine, what can be built counts; whoever applies it asks first.
        """
        if layer.op not in WEIGHTED | SCALE_KEEPING | RESCALING | ABSORBED:
            return False
        if self.known.offered is None or layer.op in ABSORBED:
            return True
        return self.known.offered.get(layer.op) is Support.EXECUTED
