"""Latency in pairs: what an interleaved comparison of two models found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from core.measure.calm import Basis
from core.measure.intervals import Interval

PAIRED = "paired, interleaved in random order, in two child processes"
PROCESSOR_TIME = "processor time, because other processes took the processor during nearly every run"

#: An original that seems this much faster or slower than itself says that nothing can be told here.
MOST_NOISE = 0.25


@dataclass(frozen=True, slots=True)
class PairedLatency:
    """Mean wall time of the original over that of the candidate, on the same samples; above 1 is faster.

    `basis` is "processor" where other processes took the processor during nearly every run: then all times are
    processor times, which nobody else lengthens. `disturbed_kept`: not even that was possible (several threads).
    `ratio_bound` and `after_bound_ms` are one-sided 95 % bounds. `throughput` is samples per second. `memory_bytes`
    is each child's peak resident memory: interpreter, runtime and model. `pairs` were used, `disturbed` left out
    because another process took the processor during them. `noise_ci95` is the interval of the original against
    itself, measured in between; None where it was not.
    """

    ratio: float
    ci95: Interval
    ratio_bound: float
    before_ms: float
    after_ms: float
    after_bound_ms: float
    before_p95_ms: float
    after_p95_ms: float
    batch: int
    pairs: int
    disturbed: int
    samples: int
    before_memory_bytes: int | None
    after_memory_bytes: int | None
    noise_ci95: Interval | None = None
    basis: Basis = "wall"
    disturbed_kept: bool = False

    @property
    def trustworthy(self) -> bool:
        """Whether the ratio may be called a speed-up: runs in peace, and the original about as fast as itself."""
        return not self.disturbed_kept and (self.smallest_effect or 0.0) <= MOST_NOISE

    @property
    def before_throughput(self) -> float:
        """Samples per second of the original."""
        return 1e3 * self.batch / self.before_ms

    @property
    def after_throughput(self) -> float:
        """Samples per second of the candidate."""
        return 1e3 * self.batch / self.after_ms

    @property
    def p95_ratio(self) -> float:
        """Slow runs of the original over those of the candidate (95th percentiles)."""
        return self.before_p95_ms / self.after_p95_ms

    @property
    def memory_ratio(self) -> float | None:
        """Peak memory of the original over that of the candidate: above 1 is smaller."""
        if not self.before_memory_bytes or not self.after_memory_bytes:
            return None
        return self.before_memory_bytes / self.after_memory_bytes

    @property
    def smallest_effect(self) -> float | None:
        """The smallest relative change that stands out from the noise of the original against itself."""
        if self.noise_ci95 is None:
            return None
        low, high = self.noise_ci95
        return max(1 - low, high - 1, 0.0)

    def unchanged(self) -> PairedLatency:
        """That of the original against itself, by definition: ratio 1, interval [1, 1]."""
        return replace(
            self,
            ratio=1.0,
            ci95=(1.0, 1.0),
            ratio_bound=1.0,
            after_ms=self.before_ms,
            after_bound_ms=self.before_ms,
            after_p95_ms=self.before_p95_ms,
            after_memory_bytes=self.before_memory_bytes,
        )

    def spanning(self, other: PairedLatency) -> PairedLatency:
        """The same figures with intervals and bounds that hold those of another measurement of the pair too.

        It is trustworthy only where both are.
        """
        noises = [noise for noise in (self.noise_ci95, other.noise_ci95) if noise is not None]
        return replace(
            self,
            ci95=(min(self.ci95[0], other.ci95[0]), max(self.ci95[1], other.ci95[1])),
            ratio_bound=min(self.ratio_bound, other.ratio_bound),
            after_bound_ms=max(self.after_bound_ms, other.after_bound_ms),
            noise_ci95=(min(low for low, _ in noises), max(high for _, high in noises)) if noises else None,
            disturbed_kept=self.disturbed_kept or other.disturbed_kept,
        )

    def to_dict(self) -> dict[str, Any]:
        """The `speedup` object of the documents, with how it was measured."""
        return {
            "ratio": self.ratio,
            "ci95": list(self.ci95),
            "before_ms": self.before_ms,
            "after_ms": self.after_ms,
            "before_p95_ms": self.before_p95_ms,
            "after_p95_ms": self.after_p95_ms,
            "pairs": self.pairs,
            "disturbed": self.disturbed,
            "samples": self.samples,
            "basis": self.basis,
            "trustworthy": self.trustworthy,
            "how": PAIRED if self.basis == "wall" else f"{PAIRED}; {PROCESSOR_TIME}",
        }
