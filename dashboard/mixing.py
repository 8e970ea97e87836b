"""Mixing: a recipe being edited - rules are added, pins hold, every step can be undone.

A mix is the ordered rules of a recipe plus pins. A later rule wins over an earlier one, so an edit appends a rule and
drops those it makes pointless. A pin is a group whose precision neither a later edit nor the solver may change; its
rule stands after all others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule, read_precision

#: How many steps can be taken back.
MAX_STEPS = 200
_PINNED = "pinned"


@dataclass(frozen=True, slots=True)
class Mix:
    """What somebody wants: rules in order, and pinned groups (group id -> precision)."""

    rules: tuple[Rule, ...] = ()
    pins: Mapping[str, Precision] = field(default_factory=dict)

    def recipe(self) -> Recipe:
        """The recipe to resolve and to build: the rules, then one for each pin."""
        return Recipe(rules=(*self.rules, *(_pin_rule(group, self.pins[group]) for group in self.pins)))

    def to_dict(self) -> dict[str, Any]:
        """The draft as it is kept: the recipe's JSON without the pins' rules, and `pins` beside it."""
        pins = {group: str(precision) for group, precision in self.pins.items()}
        return {**Recipe(rules=self.rules).to_dict(), "pins": pins}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Mix:
        """Reads a recipe's JSON or a draft.

        Raises:
            RecipeError: not a recipe, or a rule or pin that cannot be read.
            UnavailableError: it asks for what this version does not build.
        """
        recipe = Recipe.from_dict({key: value for key, value in document.items() if key != "pins"})
        pins = document.get("pins")
        held = pins.items() if isinstance(pins, Mapping) else ()
        return cls(recipe.rules, {str(group): read_precision(str(name)) for group, name in held})


def set_groups(mix: Mix, groups: Collection[str], precision: Precision, *, why: str) -> Mix:
    """Gives some groups a precision; pinned ones keep theirs."""
    free = [group for group in groups if group not in mix.pins]
    rules = [_rule(f"group:{group}", precision, why) for group in free]
    return _append(mix, rules)


def set_operator(mix: Mix, op: str, precision: Precision) -> Mix:
    """Gives every layer of an operator a precision."""
    return _append(mix, [_rule(f"op:{op}", precision, f"all {op} layers to {precision}")])


def set_matching(mix: Mix, pattern: str, precision: Precision) -> Mix:
    """Gives every layer whose name the regular expression finds a precision.

    Raises:
        RecipeError: the pattern is not a regular expression.
    """
    return _append(mix, [_rule(f"name:{pattern}", precision, f"names that match {pattern} to {precision}")])


def set_everything(mix: Mix, precision: Precision) -> Mix:
    """Gives every layer a precision: all earlier rules become pointless."""
    return replace(mix, rules=(_rule("*", precision, f"everything to {precision}"),))


def add_rules(mix: Mix, rules: Collection[Rule]) -> Mix:
    """Puts rules at the end, as an advice proposes them; pinned groups keep their precision."""
    return _append(mix, rules)


def pin(mix: Mix, groups: Mapping[str, Precision]) -> Mix:
    """Holds these groups at these precisions."""
    return replace(mix, pins={**mix.pins, **groups})


def unpin(mix: Mix, groups: Iterable[str]) -> Mix:
    """Lets go of these groups; they keep their precision by an ordinary rule."""
    released = [group for group in groups if group in mix.pins]
    left = {group: precision for group, precision in mix.pins.items() if group not in released}
    rules = [_rule(f"group:{group}", mix.pins[group], "was pinned") for group in released]
    return _append(replace(mix, pins=left), rules)


@dataclass(frozen=True, slots=True)
class History:
    """A mix with what came before it and what was taken back."""

    present: Mix = field(default_factory=Mix)
    past: tuple[Mix, ...] = ()
    future: tuple[Mix, ...] = ()

    def do(self, mix: Mix) -> History:
        """Makes a step; what was taken back before is forgotten. A step that changes nothing is none."""
        if mix == self.present:
            return self
        return History(mix, (*self.past, self.present)[-MAX_STEPS:], ())

    def undo(self) -> History:
        """Takes the last step back, if there is one."""
        if not self.past:
            return self
        return History(self.past[-1], self.past[:-1], (self.present, *self.future))

    def redo(self) -> History:
        """Makes the step again that was taken back last, if there is one."""
        if not self.future:
            return self
        return History(self.future[0], (*self.past, self.present), self.future[1:])


def _append(mix: Mix, rules: Collection[Rule]) -> Mix:
    """Adds rules at the end; earlier ones that match the same are dropped."""
    said_again = {rule.match for rule in rules}
    return replace(mix, rules=(*(rule for rule in mix.rules if rule.match not in said_again), *rules))


def _rule(match: str, precision: Precision, why: str) -> Rule:
    return Rule(match, precision, why=why)


def _pin_rule(group: str, precision: Precision) -> Rule:
    return Rule(f"group:{group}", precision, why=f"{_PINNED} to {precision}")
