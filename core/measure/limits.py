"""Limits: what bounds a layer's time, by a simple stated rule, and the costs that only a run can tell.

A kernel shorter than 10 microseconds is bound by overhead (calling it costs as much as its work). Otherwise the
arithmetic intensity decides: from 4 multiply-accumulates per byte moved on, arithmetic bounds it, below that memory.
A core with 256-bit vectors does about 4 multiply-accumulates in the time that it takes to fetch a byte from memory.
"""

from __future__ import annotations

import math
from typing import Literal

from core.measure.events import KernelEvent

Limit = Literal["compute", "memory", "overhead"]

OVERHEAD_MS = 0.01
MACS_PER_BYTE = 4.0


def limited_by(ms: float, executions: float, macs: int | None, moved_bytes: int | None) -> Limit | None:
    """What bounds a layer; None where it took no time or its costs are unknown.

    Args:
        ms: milliseconds per run.
        executions: how often it ran in that time.
        macs: multiply-accumulates of one run.
        moved_bytes: bytes its kernels read and wrote in one run.
    """
    if ms <= 0 or executions <= 0:
        return None
    if ms / executions < OVERHEAD_MS:
        return "overhead"
    if macs is None or not moved_bytes:
        return None
    return "compute" if macs / moved_bytes >= MACS_PER_BYTE else "memory"


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
