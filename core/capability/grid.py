"""The capability grid: for each operator and precision, executed here or not, and how much faster than fp32."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.recipe.precision import Precision, Support

BEST_FIRST = (Support.EXECUTED, Support.EMULATED, Support.SIMULATED, Support.UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Capability:
    """One row: `speedup` is fp32 time over this precision's time for the kernel alone, with its 95 % interval.

    None where nothing was timed: what is simulated has no speed, what is unavailable did not run.
    """

    op: str
    signature: str
    precision: Precision
    provider: str
    state: Support
    speedup: float | None
    ci95: tuple[float, float] | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """As in the `machine` document."""
        return {
            "op": self.op,
            "signature": self.signature,
            "precision": str(self.precision),
            "provider": self.provider,
            "state": str(self.state),
            "speedup": self.speedup,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class CapabilityGrid:
    """All rows, and whether 8-bit weights saturate on this CPU."""

    rows: tuple[Capability, ...]
    saturates: bool

    def offered(self, precision: Precision = Precision.INT8) -> dict[str, Support]:
        """Operator -> what this machine does with it in this precision; the best of its signatures."""
        found: dict[str, Support] = {}
        for row in self.rows:
            if row.precision is precision:
                known = found.get(row.op, row.state)
                found[row.op] = min(known, row.state, key=BEST_FIRST.index)
        return found

    def to_dict(self) -> dict[str, Any]:
        """What the store caches."""
        return {"rows": [row.to_dict() for row in self.rows], "saturates": self.saturates}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CapabilityGrid:
        """Reads what `to_dict` gave."""
        return cls(tuple(_row(row) for row in document["rows"]), bool(document["saturates"]))

    @classmethod
    def joined(cls, grids: Iterable[CapabilityGrid]) -> CapabilityGrid:
        """Several parts as one."""
        parts = list(grids)
        return cls(tuple(row for part in parts for row in part.rows), any(part.saturates for part in parts))


def _row(row: Mapping[str, Any]) -> Capability:
    ci95 = row["ci95"]
    return Capability(
        op=row["op"],
        signature=row["signature"],
        precision=Precision(row["precision"]),
        provider=row["provider"],
        state=Support(row["state"]),
        speedup=row["speedup"],
        ci95=None if ci95 is None else (ci95[0], ci95[1]),
        why=row["why"],
    )
