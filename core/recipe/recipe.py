"""Recipe: ordered rules that say which layers get which precision, as JSON that fits any model of that structure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import RecipeError, UnavailableError, did_you_mean
from core.recipe.precision import PLACEABLE, Precision

VERSION = 1
_KINDS = ("op", "layer", "group", "name")
#: Options a rule may carry, with the values they take.
_OPTIONS: Mapping[str, tuple[object, ...]] = {
    "reduced_range": (True, False),
    "granularity": ("channel", "tensor"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what it matches ("op:Conv", "layer:ID", "group:ID", "name:REGEX" or "*") and what those layers become.

    Options: `reduced_range` (bool; 7-bit weights, which cannot saturate on CPUs without VNNI; left out, the machine
    decides) and `granularity` ("channel" or "tensor": one weight scale per output channel, or one in all).

    Raises:
        RecipeError: the match, the precision or an option cannot be read.
    """

    match: str
    precision: Precision
    options: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.precision, Precision):  # a script may write "int8"
            object.__setattr__(self, "precision", read_precision(str(self.precision)))
        kind, _, text = self.match.partition(":")
        if self.match != "*" and (kind not in _KINDS or not text):
            hint = 'A match is "op:TYPE", "layer:ID", "group:ID", "name:REGEX" or "*".'
            raise RecipeError(f"A rule cannot match '{self.match}'.", hint=hint)
        if kind == "name":
            try:
                re.compile(text)
            except re.error as error:
                raise RecipeError(f"'{text}' is not a regular expression: {error}.") from error
        for option, value in self.options.items():
            _check_option(option, value)

    def to_dict(self) -> dict[str, Any]:
        """As in the recipe's JSON."""
        return {
            "match": self.match,
            "precision": str(self.precision),
            "options": dict(self.options),
            "why": self.why,
        }


def _check_option(option: str, value: object) -> None:
    if option not in _OPTIONS:
        raise RecipeError(f"A rule has no option '{option}'.{did_you_mean(option, _OPTIONS)}")
    if not any(value is known or (isinstance(known, str) and value == known) for known in _OPTIONS[option]):
        known_values = ", ".join(repr(known) for known in _OPTIONS[option])
        raise RecipeError(f"The option '{option}' cannot be {value!r}; it takes {known_values}.")


@dataclass(frozen=True, slots=True)
class Recipe:
    """Rules in order (the last that matches wins), and the settings of the parts that are not precision."""

    rules: tuple[Rule, ...] = ()
    structure: tuple[Mapping[str, Any], ...] = ()
    dynamic: Mapping[str, Any] = field(default_factory=dict)
    session: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def uniform(cls, precision: Precision) -> Recipe:
        """Every layer in one precision."""
        return cls(rules=(Rule("*", precision, why=f"everything in {precision}"),))

    def to_dict(self) -> dict[str, Any]:
        """The recipe's JSON."""
        return {
            "version": VERSION,
            "rules": [rule.to_dict() for rule in self.rules],
            "structure": [dict(entry) for entry in self.structure],
            "dynamic": dict(self.dynamic),
            "session": dict(self.session),
            "calibration": dict(self.calibration),
        }

    @classmethod
    def from_dict(cls, document: Any) -> Recipe:
        """Reads the recipe's JSON.

        Raises:
            RecipeError: not a recipe, of a newer version, or a rule that cannot be read.
            UnavailableError: it asks for a part that this version does not build yet.
        """
        if not isinstance(document, Mapping) or not isinstance(document.get("rules"), list):
            raise RecipeError("This is not a recipe.", hint='A recipe is a JSON object with a list "rules".')
        if document.get("version") != VERSION:
            raise RecipeError(f"This recipe has version {document.get('version')!r}; this Mixdesk reads version 1.")
        for part in ("structure", "dynamic", "session", "calibration"):
            if document.get(part):
                message = f"The recipe's '{part}' part is not built by this version of Mixdesk."
                raise UnavailableError(message, hint=f"Leave '{part}' empty.")
        return cls(rules=tuple(_read_rule(rule, number) for number, rule in enumerate(document["rules"], 1)))


def _read_rule(rule: Any, number: int) -> Rule:
    if not isinstance(rule, Mapping) or not isinstance(rule.get("match"), str):
        raise RecipeError(f"Rule {number} is not a rule.", hint='A rule is {"match": "...", "precision": "..."}.')
    unknown = set(rule) - {"match", "precision", "options", "why"}
    if unknown:
        raise RecipeError(f"Rule {number} has an unknown key '{sorted(unknown)[0]}'.")
    options = rule.get("options") or {}
    if not isinstance(options, Mapping):
        raise RecipeError(f"The options of rule {number} are not an object.")
    return Rule(rule["match"], read_precision(str(rule.get("precision"))), options, str(rule.get("why") or ""))


def read_precision(name: str) -> Precision:
    """The precision of that name.

    Raises:
        RecipeError: no such precision.
        UnavailableError: a precision that this version does not place yet.
    """
    known = [str(precision) for precision in Precision]
    if name not in known:
        raise RecipeError(f"There is no precision '{name}'.{did_you_mean(name, known)}")
    precision = Precision(name)
    if precision not in PLACEABLE:
        offered = " and ".join(str(placeable) for placeable in PLACEABLE)
        raise UnavailableError(f"{precision} is not built by this version of Mixdesk; it places {offered}.")
    return precision
