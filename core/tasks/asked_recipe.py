"""The recipe that a build is asked for: rules, the structure they were made for, pins; fitted to the model at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from core.errors import RecipeError, RequestError
from core.graph.layer import LayerTable
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import check_matches
from core.recipe.structure import Structure
from core.recipe.transfer import Transfer, transfer
from core.tasks.params import Params, read_pins


@dataclass(frozen=True, slots=True)
class AskedRecipe:
    """`made_for` is None for a recipe that does not say which model it was made for; it must then fit as it is.

    `strict` True refuses a rule whose layer is missing, False drops and lists it, None drops it only where `made_for`
    is known.
    """

    recipe: Recipe
    made_for: Structure | None
    pins: Mapping[str, Precision]
    strict: bool | None

    @classmethod
    def read(cls, params: Params) -> Self:
        """Reads `recipe`, `pins` and `strict`.

        Raises:
            RecipeError, UnavailableError, RequestError: one cannot be read.
        """
        given, strict = params.get("recipe"), params.get("strict")
        if not isinstance(given, Mapping):
            raise RecipeError("The job has no recipe.", hint='A recipe is a JSON object with a list "rules".')
        if strict not in (None, True, False):
            raise RequestError(f"'strict' must be true or false, not {strict!r}.")
        made_for = given.get("made_for")
        structure = None if made_for is None else Structure.from_dict(made_for)
        return cls(Recipe.from_dict(given), structure, read_pins(params), strict)

    def fit(self, table: LayerTable) -> Transfer:
        """The rules as they read on this model, pins last so that they win, and how it differs from theirs.

        Raises:
            RecipeError: a pin names no layer; or a rule does, where that is refused.
        """
        for layer in self.pins:
            table.layer(layer)
        pinned = tuple(Rule(f"layer:{layer}", precision, why="pinned") for layer, precision in self.pins.items())
        fitted = self._fit_rules(table)
        return replace(fitted, recipe=replace(fitted.recipe, rules=(*fitted.recipe.rules, *pinned)))

    def _fit_rules(self, table: LayerTable) -> Transfer:
        strict = self.made_for is None if self.strict is None else self.strict
        if strict and self.made_for is None:
            check_matches(self.recipe, table)
            return Transfer(self.recipe, ())
        return transfer(self.recipe, self.made_for, table, strict=strict)
