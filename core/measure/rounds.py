"""Rounds: one profile out of several openings of the sessions, by the median of the shares that each of them shows.

An opening puts weights and buffers where it happens to, which makes some kernels faster and others slower until it is
closed; and a machine that is slower for some seconds slows down the profiler too. Each round is therefore freed of the
cost that the profiler had in it, and then the middle share of each kernel counts, scaled to a sum of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import NamedTuple

from core.measure.kernel_times import KernelTime, KernelTimes, Key, key_of
from core.measure.profiler_cost import ProfilerCost


class Round(NamedTuple):
    """The typical times of one opening, and what the profiler cost in it."""

    times: KernelTimes
    cost: ProfilerCost


@dataclass(frozen=True, slots=True)
class MiddleCost(ProfilerCost):
    """The cost over all rounds; `left_us` holds what each kernel takes per run without it."""

    left_us: Mapping[Key, float] = field(default_factory=dict, repr=False)

    def without(self, kernel: KernelTime) -> float:
        """Microseconds that a kernel takes per run when nobody watches."""
        return self.left_us[key_of(kernel.event)]


def join_rounds(rounds: Sequence[Round], every: KernelTimes) -> Round:
    """One out of several; `every` is typical of all runs together, and says what a run takes and executes."""
    if len(rounds) == 1:
        return rounds[0]
    watched = [{key_of(kernel.event): kernel.own_us for kernel in times.kernels} for times, _ in rounds]
    left = [{key_of(kernel.event): cost.without(kernel) for kernel in times.kernels} for times, cost in rounds]
    runs_us = [times.run_us for times, _ in rounds]
    own = _middle(watched, runs_us, every)
    freed = _middle(left, runs_us, every)
    kernels = tuple(replace(kernel, own_us=own[key_of(kernel.event)]) for kernel in every.kernels)
    scaled = [every.run_us / max(run_us, 1e-9) for run_us in runs_us]
    cost = MiddleCost(
        inside_us=median(cost.inside_us * scale for (_, cost), scale in zip(rounds, scaled, strict=True)),
        outside_us=median(cost.outside_us * scale for (_, cost), scale in zip(rounds, scaled, strict=True)),
        left_us={key: min(us, own[key]) for key, us in freed.items()},
    )
    return Round(KernelTimes(every.run_us, max(0.0, every.run_us - sum(own.values())), kernels), cost)


def _middle(rounds: Sequence[Mapping[Key, float]], runs_us: Sequence[float], every: KernelTimes) -> dict[Key, float]:
    """Microseconds of each kernel: its middle share of all kernels, times the middle share that these have of a run.

    What did not run in every round (a branch that few samples take) has its mean share: the middle may be none at all.
    """
    wholes = [sum(times.values()) for times in rounds]
    shares: dict[Key, float] = {}
    for kernel in every.kernels:
        key = key_of(kernel.event)
        found = [times.get(key, 0.0) / max(whole, 1e-9) for times, whole in zip(rounds, wholes, strict=True)]
        shares[key] = median(found) if all(key in times for times in rounds) else fmean(found)
    middle = median(whole / max(run_us, 1e-9) for whole, run_us in zip(wholes, runs_us, strict=True))
    scale = middle * every.run_us / max(sum(shares.values()), 1e-9)
    return {key: share * scale for key, share in shares.items()}
