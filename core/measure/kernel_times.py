"""Kernel times: what each kernel takes in a typical run, so that kernels and gap add up to the run as measured.

A machine has moods: for some seconds everything takes half as long again. The share that a kernel has of its own run
stands that better than its milliseconds, so shares are averaged, without the lowest and the highest tenth of the runs,
scaled to a sum of one, and multiplied by the median wall time. Medians of the parts would not add up to the median of
the whole; plain means would, but one spike spoils them.

Runs that execute other kernels (a branch not taken, a loop that went on) are not alike: each kind of run is averaged by
itself, and the kinds by how often they occur.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from core.measure.events import KernelEvent, RunEvents

_TRIMMED = 0.1

Key = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class KernelTime:
    """One kernel, per run: its own microseconds with the profiler's part in them, executions, bytes it moved.

    `event` is its first execution; `inside` counts what ran directly inside it, for a container.
    """

    event: KernelEvent
    own_us: float
    executions: float
    moved_bytes: float
    inside: float = 0.0


@dataclass(frozen=True)
class KernelTimes:
    """A typical run of `run_us`: its kernels, and `gap_us` outside them; these add up to it."""

    run_us: float
    gap_us: float
    kernels: tuple[KernelTime, ...] = field(repr=False)

    @property
    def kernel_us(self) -> float:
        """Time in kernels."""
        return sum(kernel.own_us for kernel in self.kernels)

    @property
    def executions(self) -> float:
        """Kernels that ran."""
        return sum(kernel.executions for kernel in self.kernels)


def typical_times(
    runs: Sequence[RunEvents], walls_us: Sequence[float] | None = None, levels_us: Sequence[float] | None = None
) -> KernelTimes:
    """Averages runs.

    Args:
        runs: the profiler's events.
        walls_us: the wall time of each as measured from outside; by default as the profiler saw it.
        levels_us: what the run's median is taken of where that is not the wall (processor time).
    """
    walls = [run.wall_us for run in runs] if walls_us is None else list(walls_us)
    levels = walls if levels_us is None else list(levels_us)
    kinds: dict[frozenset[tuple[Key, int]], list[int]] = defaultdict(list)
    for position, run in enumerate(runs):
        kinds[frozenset(Counter(key_of(kernel) for kernel in run.kernels).items())].append(position)
    own: dict[Key, float] = defaultdict(float)
    gap = level = 0.0
    for members in kinds.values():
        kind = _Kind([runs[i] for i in members], [walls[i] for i in members], [levels[i] for i in members])
        weight = len(members) / len(runs)
        gap += weight * kind.gap_us
        level += weight * kind.run_us
        for key, us in kind.own_us.items():
            own[key] += weight * us
    return KernelTimes(level, gap, tuple(_kernels(runs, own)))


class _Kind:
    """Runs that execute the same kernels."""

    def __init__(self, runs: Sequence[RunEvents], walls: Sequence[float], levels: Sequence[float]) -> None:
        self.run_us = median(levels)
        shares: dict[Key, list[float]] = defaultdict(list)
        gaps = []
        for run, wall in zip(runs, walls, strict=True):
            spent: dict[Key, float] = defaultdict(float)
            for kernel in run.kernels:
                spent[key_of(kernel)] += kernel.own_us
            whole = max(wall, sum(spent.values()), 1e-9)
            gaps.append(1 - sum(spent.values()) / whole)
            for key, us in spent.items():
                shares[key].append(us / whole)
        means = {key: trimmed_mean(values) for key, values in shares.items()}
        gap = trimmed_mean(gaps)
        scale = self.run_us / max(gap + sum(means.values()), 1e-9)
        self.gap_us = gap * scale
        self.own_us = {key: share * scale for key, share in means.items()}


def trimmed_mean(values: Iterable[float]) -> float:
    """The mean without the lowest and the highest tenth."""
    ordered = sorted(values)
    left_out = int(_TRIMMED * len(ordered))
    return fmean(ordered[left_out : len(ordered) - left_out])


def key_of(kernel: KernelEvent) -> Key:
    """What the executions of one kernel have in common: its container and its name."""
    return kernel.container, kernel.name


def _kernels(runs: Sequence[RunEvents], own: dict[Key, float]) -> Iterable[KernelTime]:
    first: dict[Key, KernelEvent] = {}
    executions: Counter[Key] = Counter()
    moved: Counter[Key] = Counter()
    inside: Counter[str] = Counter()
    for run in runs:
        for kernel in run.kernels:
            key = key_of(kernel)
            first.setdefault(key, kernel)
            executions[key] += 1
            moved[key] += kernel.moved_bytes
            if kernel.container is not None:
                inside[kernel.container] += 1
    count = len(runs)
    for key, event in first.items():
        held = inside[event.name] / count if event.is_container else 0.0
        yield KernelTime(event, own[key], executions[key] / count, moved[key] / count, held)
