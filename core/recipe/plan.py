"""Plan: one decision, with its reason, for every layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.recipe.precision import Precision

VERSION = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """What one layer becomes. `requested` is what the rules ask, `precision` what is decided, `why` tells in words.

    `rule` is the number of the rule that decided (0-based), None where none matched. `options` are that rule's.
    """

    layer: str
    group: str
    requested: Precision
    precision: Precision
    why: str
    rule: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """One row of the plan's JSON."""
        return {
            "layer": self.layer,
            "group": self.group,
            "requested": str(self.requested),
            "precision": str(self.precision),
            "why": self.why,
            "rule": self.rule,
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """One decision per layer, in graph order."""

    decisions: tuple[Decision, ...]

    def of_layer(self, layer_id: str) -> Decision:
        """The decision of a layer (KeyError: the plan is of another model)."""
        for decision in self.decisions:
            if decision.layer == layer_id:
                return decision
        raise KeyError(layer_id)

    def groups(self, precision: Precision) -> dict[str, Decision]:
        """Group id -> decision, for the groups decided to be of that precision."""
        return {d.group: d for d in self.decisions if d.precision is precision}

    def to_dict(self) -> dict[str, Any]:
        """The plan's JSON."""
        return {"version": VERSION, "layers": [decision.to_dict() for decision in self.decisions]}
