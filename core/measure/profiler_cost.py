"""The profiler's cost: how much of what it records is its own doing, and what is left of each kernel without it.

onnxruntime writes down names, shapes and memory of each kernel, partly before it stops that kernel's clock: several
microseconds per kernel, more than many kernels take. Nothing of it happens in a run without the profiler. The rule:

1. A run with the profiler minus the run without it beside it (the median of such pairs) is what the profiler costs.
   It is spread evenly over the kernels that ran: `record_us` each.
2. Of that, `inside_us` lie within the kernel's own time, the rest after it: in the gap, or in the container that the
   kernel runs in. `inside_us` is such that the kernels, freed of it, add up to the run without the profiler, less what
   the runtime needs around them there (taken from a chain of kernels that do next to nothing).
3. A kernel that reads and writes more tensors has a longer record. A tenth of its time always remains to a kernel.

Both figures stay between what that chain shows, where everything is warm, and four times as much.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.measure.kernel_times import KernelTime, KernelTimes
from core.measure.profiler_probe import Probe

_LEAST_LEFT = 0.1
_MOST_TIMES = 4.0
#: The fixed part of a record takes as long as this many tensors in it; the usual kernel has three.
_FIXED_TENSORS, _USUAL_TENSORS = 7, 3
_STEPS = 40


@dataclass(frozen=True, slots=True)
class ProfilerCost:
    """Microseconds per kernel that ran: `inside_us` within its own time, `outside_us` after it."""

    inside_us: float = 0.0
    outside_us: float = 0.0

    @property
    def record_us(self) -> float:
        """All that one kernel more costs."""
        return self.inside_us + self.outside_us

    def without(self, kernel: KernelTime) -> float:
        """Microseconds that a kernel takes per run when nobody watches."""
        cost = kernel.executions * self.inside_us * _length(kernel) + kernel.inside * self.outside_us
        return max(kernel.own_us - cost, _LEAST_LEFT * kernel.own_us) if cost > 0 else kernel.own_us


def calibrate(times: KernelTimes, extra_us: float, probe: Probe) -> ProfilerCost:
    """Finds the cost.

    Args:
        times: of the instrumented runs.
        extra_us: how much longer they take than the plain runs beside them.
        probe: what a chain of trivial kernels shows.
    """
    executions = times.executions
    if not executions:
        return ProfilerCost()
    least = probe.inside_us + probe.outside_us
    record = min(max(extra_us / executions, least), _MOST_TIMES * least)
    around = probe.run_us + executions * probe.framework_us
    wanted = times.run_us - extra_us - around
    low, high = probe.inside_us, record - probe.outside_us
    for _ in range(_STEPS):
        middle = (low + high) / 2
        cost = ProfilerCost(middle, record - middle)
        if sum(cost.without(kernel) for kernel in times.kernels) > wanted:
            low = middle
        else:
            high = middle
    return ProfilerCost(low, record - low)


def _length(kernel: KernelTime) -> float:
    """How much longer this kernel's record takes than the usual one."""
    tensors = len(kernel.event.input_shapes) + len(kernel.event.output_shapes)
    return (_FIXED_TENSORS + tensors) / (_FIXED_TENSORS + _USUAL_TENSORS)
