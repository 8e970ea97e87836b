"""Limits: what bounds a layer's time, what it reaches of the attainable, and costs that only a run tells.

A kernel shorter than 10 microseconds is bound by overhead (calling it costs as much as its work). Otherwise the
roofline of this machine decides: compute where the arithmetic takes longer than the bytes, else memory. Where the
roofline is not known, the intensity alone decides: from 4 multiply-accumulates per byte moved on, arithmetic bounds it;
a core with 256-bit vectors does about that many in the time that it takes to fetch a byte from memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from core.measure.events import KernelEvent
from core.measure.roofline import FLOPS_PER_MAC, Roofline

Limit = Literal["compute", "memory", "overhead"]

OVERHEAD_MS = 0.01
MACS_PER_BYTE = 4.0


@dataclass(frozen=True, slots=True)
class Work:
    """What one layer did in a run that has it; None where not known.

    `ms`, `macs` and bytes are totals over its `executions`. `weight_bytes` of the `moved_bytes` are stored weights,
    `all_weight_bytes` those of the whole model. `precision` is what its kernel computes in.
    """

    ms: float
    executions: float
    macs: float | None
    moved_bytes: float | None
    precision: str | None = None
    weight_bytes: float = 0.0
    all_weight_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Reached:
    """How a layer stands to the machine: operations per byte, GFLOP/s, share of the attainable (0..1), and its limit.

    `attained` is the least possible time over the measured one. A layer that was faster than the probe's best counts
    as 1: peaks are measured too, and a layer's data may lie nearer than the rule says.
    """

    intensity: float | None = None
    gflops: float | None = None
    attained: float | None = None
    limited_by: Limit | None = None


def reach(work: Work, roofline: Roofline | None) -> Reached:
    """What a layer reaches of what is possible here, and what bounds it; nothing where it took no time."""
    if work.ms <= 0 or work.executions <= 0:
        return Reached()
    gflops = None if work.macs is None else FLOPS_PER_MAC * work.macs / work.ms / 1e6
    if work.macs is None or not work.moved_bytes:
        return Reached(gflops=gflops, limited_by=_overhead(work))
    intensity = FLOPS_PER_MAC * work.macs / work.moved_bytes
    compute_ms, memory_ms = _least_ms(work, work.macs, work.moved_bytes, roofline)
    if compute_ms is None or memory_ms is None:
        limit: Limit = "compute" if intensity >= FLOPS_PER_MAC * MACS_PER_BYTE else "memory"
        return Reached(intensity, gflops, None, _overhead(work) or limit)
    limit = "compute" if compute_ms >= memory_ms else "memory"
    return Reached(intensity, gflops, min(1.0, max(compute_ms, memory_ms) / work.ms), _overhead(work) or limit)


def limited_by(ms: float, executions: float, macs: int | None, moved_bytes: int | None) -> Limit | None:
    """What bounds a layer where the roofline is not known; None where it took no time or its costs are unknown."""
    return reach(Work(ms, executions, macs, moved_bytes), None).limited_by


def _overhead(work: Work) -> Limit | None:
    return "overhead" if work.ms / work.executions < OVERHEAD_MS else None


def _least_ms(
    work: Work, macs: float, moved_bytes: float, roofline: Roofline | None
) -> tuple[float | None, float | None]:
    """Of the arithmetic and of the bytes; one execution after the other, so that each finds its data in its cache."""
    if roofline is None:
        return None, None
    times = max(work.executions, 1.0)
    memory_ms = roofline.memory_ms(
        moved_bytes / times, weight_bytes=work.weight_bytes / times, all_weight_bytes=work.all_weight_bytes
    )
    return roofline.compute_ms(macs, work.precision), memory_ms * times


def measured_macs(op_type: str, kernel: KernelEvent) -> int | None:
    """Multiply-accumulates of a Conv or matrix product from the shapes that it really ran on; None for others."""
    if len(kernel.input_shapes) < 2 or not kernel.output_shapes:
        return None
    first, second, output = kernel.input_shapes[0], kernel.input_shapes[1], kernel.output_shapes[0]
    if op_type == "Conv" and len(second) > 2:
        return math.prod(output) * math.prod(second[1:])
    if op_type in ("MatMul", "Gemm") and first:
        return math.prod(output) * first[-1]
    return None
