"""Roofline: the least time that a layer's work can take on this machine.

With `macs` multiply-accumulates (2 floating-point operations each) and the bytes that are moved, it is

    max(2 * macs / peak, weight bytes / bandwidth of the weights + other bytes / bandwidth of the others)

after Williams, Waterman, Patterson: "Roofline: an insightful visual performance model for multicore architectures"
(2009). The peak is that of the precision which the kernel computes in. Memory has levels: a layer's activations come
from the smallest cache that holds all that the layer moves, its weights from the smallest that holds the weights of the
whole model, since a whole run lies between two uses of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

FLOPS_PER_MAC = 2


@dataclass(frozen=True, slots=True)
class CacheSpeed:
    """How fast a working set of this many bytes is read and written again and again (10**9 bytes per second)."""

    working_set_bytes: int
    gbytes_per_s: float


@dataclass(frozen=True)
class Roofline:
    """What a machine reaches at a number of threads.

    `gflops`: precision -> the highest rate that onnxruntime was seen to reach (10**9 operations per second).
    `gbytes_per_s`: of the memory, with arrays larger than every cache. `caches`: of working sets that caches hold,
    smallest first. `how`: precision or "memory" -> what reached it. `levels`: cache -> its bytes, as the system tells.
    `time` is ISO 8601 in UTC, `load_average` the one-minute load before: of a busy machine the figures are too low.
    """

    gflops: Mapping[str, float]
    gbytes_per_s: float
    caches: tuple[CacheSpeed, ...] = ()
    threads: int = 1
    how: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    time: str = ""
    load_average: float = 0.0

    def best_of(self, other: Roofline) -> Roofline:
        """What was reached at least once in either measurement of one machine; the rest is that of this one."""
        sizes = sorted({cache.working_set_bytes for cache in (*self.caches, *other.caches)})
        return replace(
            self,
            gflops={name: self._better(other, name).gflops[name] for name in (*self.gflops, *other.gflops)},
            gbytes_per_s=max(self.gbytes_per_s, other.gbytes_per_s),
            caches=tuple(CacheSpeed(size, max(self._at(size), other._at(size))) for size in sizes),
            how={**other.how, **self.how, **{name: self._better(other, name).how.get(name, "") for name in self.how}},
            load_average=min(self.load_average, other.load_average),
        )

    def _better(self, other: Roofline, name: str) -> Roofline:
        """Which of two reached more of a precision, or of the "memory"."""
        mine, theirs = (each.gbytes_per_s if name == "memory" else each.gflops.get(name, 0.0) for each in (self, other))
        return self if mine >= theirs else other

    def _at(self, working_set_bytes: int) -> float:
        """The speed measured at exactly this working set; 0 where none was."""
        speeds = (cache.gbytes_per_s for cache in self.caches if cache.working_set_bytes == working_set_bytes)
        return next(speeds, 0.0)

    def bandwidth(self, working_set_bytes: float) -> float:
        """GB/s of the smallest measured working set that holds this one; the memory's where none does.

        What fits a smaller cache is never slower, so the best of all that hold it counts.
        """
        speeds = [cache.gbytes_per_s for cache in self.caches if cache.working_set_bytes >= working_set_bytes]
        return max([*speeds, self.gbytes_per_s])

    def ridge(self, precision: str, working_set_bytes: float | None = None) -> float | None:
        """Operations per byte from which arithmetic takes longer than memory; None where the peak is not known.

        Args:
            precision: what the kernel computes in.
            working_set_bytes: where the bytes lie; None for the memory behind all caches.
        """
        peak = self.gflops.get(precision)
        bandwidth = self.gbytes_per_s if working_set_bytes is None else self.bandwidth(working_set_bytes)
        return None if peak is None or bandwidth <= 0 else peak / bandwidth

    def compute_ms(self, macs: float, precision: str | None) -> float | None:
        """Milliseconds that the arithmetic takes at the peak; None where the peak of this precision is not known."""
        if macs == 0:
            return 0.0
        peak = self.gflops.get(precision or "")
        return None if not peak else FLOPS_PER_MAC * macs / peak / 1e6

    def memory_ms(self, moved_bytes: float, *, weight_bytes: float = 0, all_weight_bytes: float = 0) -> float:
        """Milliseconds that the bytes take.

        Args:
            moved_bytes: all that is read and written.
            weight_bytes: how many of them are stored weights.
            all_weight_bytes: the weights of the whole model.
        """
        weights = min(weight_bytes, moved_bytes)
        seconds = weights / self.bandwidth(max(all_weight_bytes, moved_bytes)) / 1e9
        return 1e3 * (seconds + (moved_bytes - weights) / self.bandwidth(moved_bytes) / 1e9)

    def to_dict(self) -> dict[str, Any]:
        """The `roofline` object of the documents `machine` and `profile`."""
        return {
            "gflops": dict(self.gflops),
            "gbytes_per_s": self.gbytes_per_s,
            "caches": [{"bytes": each.working_set_bytes, "gbytes_per_s": each.gbytes_per_s} for each in self.caches],
            "threads": self.threads,
            "how": dict(self.how),
            "levels": dict(self.levels),
            "time": self.time,
            "load_average": self.load_average,
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Roofline:
        """Reads what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is no roofline.
        """
        return cls(
            gflops={str(name): float(value) for name, value in document["gflops"].items()},
            gbytes_per_s=float(document["gbytes_per_s"]),
            caches=tuple(CacheSpeed(int(each["bytes"]), float(each["gbytes_per_s"])) for each in document["caches"]),
            threads=int(document["threads"]),
            how=dict(document["how"]),
            levels={str(name): int(size) for name, size in document["levels"].items()},
            time=str(document["time"]),
            load_average=float(document["load_average"]),
        )
