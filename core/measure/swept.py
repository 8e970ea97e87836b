"""A measured sweep as a value: latency and throughput of every cell, the sweet spot, and the document of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.measure.calm import Basis, Timed, settle
from core.measure.intervals import Interval, mean_ci95
from core.measure.sweep_plan import Cell
from core.runtime.conditions import Conditions

INTERLEAVED = "all cells in turn, in random order, each in a child process of its own"
ONE_AFTER_ANOTHER = "one cell after the other, several times over, each in a child process of its own"


@dataclass(frozen=True, slots=True)
class CellLatency:
    """Latency of one run of a cell in ms; `ci95_ms` is that of the mean.

    Of `runs` timed runs, another process took the processor during `disturbed`: these are left out, unless nearly all
    were so. `basis` is then "processor" with one thread; with more, the disturbed runs stay (`disturbed_kept`).
    """

    median_ms: float
    mean_ms: float
    ci95_ms: Interval
    p95_ms: float
    basis: Basis
    runs: int
    disturbed: int
    disturbed_kept: bool

    def to_dict(self) -> dict[str, Any]:
        """The `latency_ms` object."""
        figures = {"median": self.median_ms, "mean": self.mean_ms, "ci95": list(self.ci95_ms), "p95": self.p95_ms}
        return {**figures, "basis": self.basis}


@dataclass(frozen=True, slots=True)
class SweptCell:
    """One cell: its latency, or why there is none. `oversubscribed`: more threads than this process has processors."""

    cell: Cell
    latency: CellLatency | None
    why: str | None
    oversubscribed: bool
    conditions: Conditions | None

    @property
    def throughput(self) -> float | None:
        """Samples per second: batch over mean latency."""
        return None if self.latency is None else 1e3 * self.cell.batch / self.latency.mean_ms

    @property
    def throughput_ci95(self) -> Interval | None:
        """Its interval, from that of the mean latency."""
        if self.latency is None:
            return None
        low, high = self.latency.ci95_ms
        return (1e3 * self.cell.batch / high, 1e3 * self.cell.batch / low)

    def to_dict(self) -> dict[str, Any]:
        """One entry of `cells`."""
        found = self.throughput_ci95
        return {
            "threads": self.cell.threads,
            "batch": self.cell.batch,
            "latency_ms": None if self.latency is None else self.latency.to_dict(),
            "throughput": self.throughput,
            "throughput_ci95": None if found is None else list(found),
            "runs": 0 if self.latency is None else self.latency.runs,
            "disturbed": 0 if self.latency is None else self.latency.disturbed,
            "oversubscribed": self.oversubscribed,
            "why": self.why,
            "conditions": None if self.conditions is None else self.conditions.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Sweep:
    """All cells. `estimate_s` is what was told before the measuring began, by a quick run; `seconds` what it took."""

    cells: tuple[SweptCell, ...]
    estimate_s: float
    measured_s: float
    limit_ms: float | None
    sweet_spot: SweptCell | None
    why: str
    rounds: int
    interleaved: bool
    usable_cores: int

    def to_dict(self) -> dict[str, Any]:
        """The `sweep` document, without data and conditions."""
        return {
            "cells": [cell.to_dict() for cell in self.cells],
            "estimate_s": self.estimate_s,
            "measured_s": self.measured_s,
            "limit_ms": self.limit_ms,
            "sweet_spot": _spot(self.sweet_spot),
            "why": self.why,
            "rounds": self.rounds,
            "how": INTERLEAVED if self.interleaved else ONE_AFTER_ANOTHER,
            "usable_cores": self.usable_cores,
        }


def _spot(spot: SweptCell | None) -> dict[str, Any] | None:
    if spot is None or spot.latency is None:
        return None
    head = {"threads": spot.cell.threads, "batch": spot.cell.batch, "throughput": spot.throughput}
    return {**head, "latency_ms": spot.latency.to_dict()}


def latency_of(runs: Sequence[Timed], *, threads: int, seed: int) -> CellLatency:
    """The latency of a cell from its runs in time order; at least one."""
    kept, basis = settle(runs, threads=threads)
    walls = np.array(kept) / 1e6
    disturbed = sum(run.disturbed for run in runs)
    return CellLatency(
        median_ms=float(np.median(walls)),
        mean_ms=float(walls.mean()),
        ci95_ms=mean_ci95(walls, seed=seed),
        p95_ms=float(np.percentile(walls, 95)),
        basis=basis,
        runs=len(runs),
        disturbed=disturbed,
        disturbed_kept=basis == "wall" and len(kept) == len(runs) and disturbed > 0,
    )
