"""The profiler's cost: how much of what it records is its own doing, and what is left of each kernel without it.

onnxruntime writes down names, shapes and memory of each kernel, partly before it stops that kernel's clock: several
microseconds per kernel, more than many kernels take. Nothing of it happens in a run without the profiler. The rule:

1. A run with the profiler minus the run without it beside it (the median of such pairs) is what the profiler costs.
   It is spread evenly over the kernels that ran: `record_us` each. It stays between half and four times what a chain
   of kernels shows that do next to nothing.
2. About half of it, `inside_us`, lies within the kernel's own time, the rest after it: in the gap, or in the container
   that the kernel runs in. The part inside, between 35 and 65 %, is such that the kernels, freed of it, add up to the
   run without the profiler, less what the runtime needs around them there (which the chain shows too). Where most
   kernels run inside containers, that sum says nothing of the part, and it is taken to be half.
3. A kernel that reads and writes more tensors has a longer record. A tenth of its time always remains to a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.measure.kernel_times import KernelTime, KernelTimes
from core.measure.profiler_probe import Probe

_LEAST_LEFT = 0.1
_LEAST_TIMES, _MOST_TIMES = 0.5, 4.0
_LEAST_INSIDE, _USUAL_INSIDE, _MOST_INSIDE = 0.35, 0.5, 0.65
#: The fixed part of a record takes as long as this many tensors in it; the usual kernel has three.
_FIXED_TENSORS, _USUAL_TENSORS = 7, 3
_STEPS = 30


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
    record = min(max(extra_us / executions, _LEAST_TIMES * least), _MOST_TIMES * least)
    if sum(kernel.inside for kernel in times.kernels) > executions / 2:
        return _divided(record, _USUAL_INSIDE)
    wanted = times.run_us - extra_us - probe.run_us - executions * probe.framework_us
    low, high = _LEAST_INSIDE, _MOST_INSIDE
    for _ in range(_STEPS):
        middle = (low + high) / 2
        cost = _divided(record, middle)
        if sum(cost.without(kernel) for kernel in times.kernels) > wanted:
            low = middle
        else:
            high = middle
    return _divided(record, low)


def _divided(record_us: float, inside: float) -> ProfilerCost:
    return ProfilerCost(inside * record_us, (1 - inside) * record_us)


def _length(kernel: KernelTime) -> float:
    """How much longer this kernel's record takes than the usual one."""
    tensors = len(kernel.event.input_shapes) + len(kernel.event.output_shapes)
    return (_FIXED_TENSORS + tensors) / (_FIXED_TENSORS + _USUAL_TENSORS)
