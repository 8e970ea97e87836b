"""Peaks: the highest arithmetic rate that onnxruntime reaches on this machine, per precision of its kernels.

The best run of several large products and convolutions counts, as the runtime really executes them: a data sheet's
figure that no kernel reaches would make every layer look poor.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import onnx_ir as ir

from core.capability.forms import Form, NoForm, forms
from core.capability.operators import OneOperator, convolution, product
from core.errors import RunError
from core.measure.roofline import FLOPS_PER_MAC
from core.progress import Progress
from core.recipe.precision import Precision
from core.runtime.attribute import read_executed
from core.runtime.kernel_precision import kernel_precision
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.values import as_values, run_values

_BUDGET_S = 0.15
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
    Large(product("MatMul", (512,), 1024, 1024), 512 * 1024 * 1024),
    Large(product("MatMul", (1024,), 512, 512), 1024 * 512 * 512),
    Large(convolution("3x3, 128 to 128 channels, 56x56", (128, 128), 56, 3), 128 * 128 * 9 * 56 * 56),
    Large(convolution("1x1, 512 to 512 channels, 28x28", (512, 512), 28, 1), 512 * 512 * 28 * 28),
)
#: Ways to write them that may end in kernels of different precisions.
_WRITTEN = (Precision.FP32, Precision.FP16, Precision.BF16, Precision.INT8)


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
        shown = f"{large.operator.op_type} {large.operator.signature}"
        progress.step(done, len(LARGE), shown)
        for written in _WRITTEN:
            form = forms(large.operator, written, saturates=saturates)
            reached = None if isinstance(form, NoForm) else _reach(form[0], large.operator.op_type, settings, clock)
            if reached is None:
                continue
            rate = FLOPS_PER_MAC * large.macs / reached.seconds / 1e9
            if reached.precision not in found or rate > found[reached.precision].gflops:
                found[reached.precision] = Peak(rate, shown)
    return found


class _Reached(NamedTuple):
    """What the kernel computes in, and its fastest run."""

    precision: str
    seconds: float


def _reach(form: Form, op_type: str, settings: SessionSettings, clock: Callable[[], float]) -> _Reached | None:
    """None where the runtime refuses the form, or computes it in another precision between casts."""
    try:
        nodes = read_executed(form.model, settings).nodes
        kernel = next((node for node in nodes if op_type in node.op_type), None)
        precision = (
            None if kernel is None or any(node.op_type == "Cast" for node in nodes) else kernel_precision(kernel)
        )
        if precision is None:
            return None
        session = open_session(ir.to_proto(form.model).SerializeToString(), settings)
        return _Reached(precision, _best_run(partial(run_values, session, as_values(form.feed)), clock))
    except RunError:
        return None


def _best_run(run: Callable[[], object], clock: Callable[[], float]) -> float:
    best, runs, start = float("inf"), 0, clock()
    while runs < _FEWEST_RUNS or clock() - start < _BUDGET_S:
        before = clock()
        run()
        best = min(best, clock() - before)
        runs += 1
    return max(best, 1e-9)
