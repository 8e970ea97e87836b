"""Advice as a value: what was seen, what follows from it, what to do about it, and what a button would change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.recipe.precision import Precision
from core.recipe.recipe import Rule

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Change:
    """What applies a remedy: rules at the end of a recipe, and settings of the run ("threads", "batch")."""

    rules: tuple[Rule, ...] = ()
    session: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The `change` object."""
        return {"rules": [rule.to_dict() for rule in self.rules], "session": dict(self.session)}


@dataclass(frozen=True, slots=True)
class Advice:
    """One finding of a profile. `layers` are those it is about; `change` is None where no recipe can do the remedy."""

    rule: str
    evidence: str
    consequence: str
    remedy: str
    layers: tuple[str, ...] = ()
    change: Change | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in the `profile` document."""
        texts = {name: getattr(self, name) for name in ("rule", "evidence", "consequence", "remedy")}
        change = None if self.change is None else self.change.to_dict()
        return {**texts, "layers": list(self.layers), "change": change}


def to_precision(groups: Iterable[str], precision: Precision, why: str) -> Change:
    """One rule for each of these groups."""
    return Change(tuple(Rule(f"group:{group}", precision, why=why) for group in dict.fromkeys(groups)))


def percent(share: float) -> str:
    """A share of one: "38 %", with a decimal below one percent."""
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1f} %"


def time_text(ms: float) -> str:
    """Milliseconds with their unit; below a tenth in microseconds."""
    return f"{ms:.3g} ms" if ms >= 0.1 or ms == 0 else f"{1e3 * ms:.3g} µs"


def names(layers: Sequence[str]) -> str:
    """Some names, and how many more there are: "a, b, c and 4 more"."""
    more = len(layers) - _MOST_NAMED
    return ", ".join(layers[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, noun: str) -> str:
    """How many: "1 layer", "3 layers"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
