"""Conditions: what a number was measured under. Every measurement carries them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Conditions:
    """Machine, versions, settings and load at the time of a measurement.

    `features` are the CPU's instruction sets that decide which kernels run ("avx2", "avx512_vnni"); `load_average` is
    the one-minute load; `time` is ISO 8601 in UTC; `threads` are intra-op threads.
    """

    machine: str
    cpu: str
    cores: int
    features: tuple[str, ...]
    os: str
    python: str
    onnxruntime: str
    provider: str
    threads: int
    batch: int
    load_average: float
    seed: int
    time: str

    def to_dict(self) -> dict[str, Any]:
        """The `conditions` object of every document."""
        return {**asdict(self), "features": list(self.features)}
