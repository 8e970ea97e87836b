"""Candidate: a built model, the plan it was built from, and what became of every layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.intake.model import Serialized
from core.intake.pack import size_of
from core.recipe.plan import Plan


@dataclass(frozen=True, slots=True)
class LayerOutcome:
    """One layer: what was requested, what the file now says (`produced`), what the runtime runs (`executed`).

    `executed` is a precision's name, or "folded" where the runtime computes nothing for this layer any more. `why`
    tells the reason where the three differ, or why this precision was chosen.
    """

    layer: str
    group: str
    op: str
    requested: str
    produced: str
    executed: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """One row of the `build` document's layers."""
        return {
            "id": self.layer,
            "group": self.group,
            "op": self.op,
            "requested": self.requested,
            "produced": self.produced,
            "executed": self.executed,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Candidate:
    """A built model; weights that it shares with an original in several files still lie there.

    `conversions` counts the quantize and dequantize nodes that the runtime really runs.

    `notes` are facts of the whole build: an opset that was lifted, 7-bit weights because this CPU saturates.
    """

    model: Serialized = field(repr=False)
    sha256: str
    plan: Plan
    outcomes: tuple[LayerOutcome, ...]
    conversions: int
    notes: tuple[str, ...] = ()

    @property
    def model_bytes(self) -> bytes:
        """The file; WorkError where weights lie in other files."""
        return self.model.whole()

    @property
    def size_bytes(self) -> int:
        """Bytes of its file, or of all its files."""
        return size_of(self.model)

    def executed(self) -> Mapping[str, str]:
        """Layer id -> executed precision."""
        return {outcome.layer: outcome.executed for outcome in self.outcomes}

    def to_dict(self) -> dict[str, Any]:
        """The build document's part that speaks of the file and its layers."""
        return {
            "bytes": self.size_bytes,
            "sha256": self.sha256,
            "layers": [outcome.to_dict() for outcome in self.outcomes],
            "conversions": {"count": self.conversions, "ms": None},
            "notes": list(self.notes),
        }
