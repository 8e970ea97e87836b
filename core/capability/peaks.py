"""Peaks: the highest arithmetic rate that onnxruntime reaches on this machine, per precision of its kernels.

The best run of several large products and convolutions counts, as the runtime really executes them: a data sheet's
figure that no kernel reaches would make every layer look poor.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import onnx_ir as ir

from core.capability.operators import OneOperator, feed, float_model, int8_model
from core.errors import RunError
from core.measure.roofline import FLOPS_PER_MAC
from core.progress import Progress
from core.runtime.attribute import read_executed
from core.runtime.kernel_precision import kernel_precision
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings

_BUDGET_S = 0.25
_FEWEST_RUNS = 5


@dataclass(frozen=True, slots=True)
class Peak:
    """The best rate in GFLOP/s (two operations per multiply-accumulate), and what reached it."""

    gflops: float
    how: str


@dataclass(frozen=True, slots=True)
class Large:
    """A large one-operator model and the multiply-accumulates of one run of it."""

    operator: OneOperator
    macs: int


LARGE = (
    Large(OneOperator("MatMul", "512x1024 by 1024x1024", ((512, 1024),), (1024, 1024), 1, float_output=True), 2**29),
    Large(OneOperator("MatMul", "1024x512 by 512x512", ((1024, 512),), (512, 512), 1, float_output=True), 2**28),
    Large(
        OneOperator("Conv", "3x3, 128 to 128 channels, 56x56", ((1, 128, 56, 56),), (128, 128, 3, 3), 0,
                    {"pads": [1, 1, 1, 1]}),
        128 * 128 * 9 * 56 * 56,
    ),
    Large(OneOperator("Conv", "1x1, 512 to 512 channels, 28x28", ((1, 512, 28, 28),), (512, 512, 1, 1)),
          512 * 512 * 28 * 28),
)  # fmt: skip


def measure_peaks(
    settings: SessionSettings, progress: Progress, *, saturates: bool, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Peak]:
    """Precision of the kernel ("fp32", "int8", ...) -> the best rate seen; takes seconds.

    Args:
        settings: threads and provider.
        progress: is told how far it is.
        saturates: whether 8-bit weights must keep to 7 bits here.
        clock: seconds.
    """
    found: dict[str, Peak] = {}
    for done, large in enumerate(LARGE):
        progress.step(done, len(LARGE), f"{large.operator.op_type} {large.operator.signature}")
        for dtype, model in _forms(large.operator, saturates=saturates):
            precision, seconds = _fastest(large.operator, model, dtype, settings, clock)
            if precision is None:
                continue
            rate = FLOPS_PER_MAC * large.macs / seconds / 1e9
            if precision not in found or rate > found[precision].gflops:
                found[precision] = Peak(rate, f"{large.operator.op_type} {large.operator.signature}")
    return found


def _forms(operator: OneOperator, *, saturates: bool) -> Iterator[tuple[str, ir.Model]]:
    yield "float32", float_model(operator)
    yield "uint8", int8_model(operator, saturates=saturates)


def _fastest(
    operator: OneOperator, model: ir.Model, dtype: str, settings: SessionSettings, clock: Callable[[], float]
) -> tuple[str | None, float]:
    """What its kernel computes in, and the seconds of its fastest run; None where the runtime refuses it."""
    try:
        nodes = read_executed(model, settings).nodes
        kernel = next((node for node in nodes if operator.op_type in node.op_type), None)
        session = open_session(ir.to_proto(model).SerializeToString(), settings)
        run = partial(run_session, session, feed(operator, dtype, 0))
        seconds = _best_run(run, clock)
    except RunError:
        return None, 0.0
    return None if kernel is None else kernel_precision(kernel), seconds


def _best_run(run: Callable[[], object], clock: Callable[[], float]) -> float:
    best, runs, start = float("inf"), 0, clock()
    while runs < _FEWEST_RUNS or clock() - start < _BUDGET_S:
        before = clock()
        run()
        best = min(best, clock() - before)
        runs += 1
    return max(best, 1e-9)
