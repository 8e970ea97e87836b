"""Recipes from elsewhere: read from a file, fitted to the model on the desk, with every difference in a list."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import RecipeError
from core.graph.layer import LayerTable
from core.recipe.resolve import check_matches
from core.recipe.structure import Structure
from core.recipe.transfer import transfer
from dashboard.mixing import Mix

#: A recipe with the structure of a model of 10,000 layers stays below.
MOST_MB = 16
_HINT = 'A recipe is a JSON object with a list "rules", or the JSON of a build.'


@dataclass(frozen=True, slots=True)
class Brought:
    """A recipe as it reads on this model.

    `differences` are rows of layer (None: the whole recipe), what and why; `made_for` names the model it was made for.
    """

    name: str
    recipe: Mapping[str, Any]
    differences: tuple[Mapping[str, str | None], ...]
    made_for: str | None = None

    @property
    def line(self) -> str:
        """How it fits: "4 rules fit this model; 1 rule is left out, 2 layers differ"."""
        count = len(self.recipe["rules"])
        dropped = sum(1 for row in self.differences if row["what"] == "rule dropped")
        others = len(self.differences) - dropped
        told = f"{count} {'rule fits' if count == 1 else 'rules fit'} this model"
        parts = []
        if dropped:
            parts.append(f"{dropped} {'rule is' if dropped == 1 else 'rules are'} left out")
        if others:
            parts.append(f"{others} {'difference' if others == 1 else 'differences'} between the models")
        return f"{told}; {', '.join(parts)}" if parts else f"{told} as {'it is' if count == 1 else 'they are'}"


def read(name: str, content: bytes, table: LayerTable) -> Brought:
    """Reads a recipe's JSON, or that of a build, and fits it to a model.

    One that does not say which model it was made for must fit as it is, as on the command line: a name that is not
    there is taken for a mistake.

    Args:
        name: of the file.
        content: its bytes.
        table: the layers of the model.

    Raises:
        RecipeError: it is no recipe, or a rule of it names what this model does not have.
        UnavailableError: it asks for what this version does not build.
    """
    plain, made_for = rules_in(content)
    structure = None if made_for is None else Structure.from_dict(made_for)
    given = Mix.from_dict(plain).recipe()
    if structure is None:
        check_matches(given, table)
    fitted = transfer(given, structure, table, strict=False)
    rows = tuple(each.to_dict() for each in fitted.differences)
    return Brought(name, fitted.recipe.to_dict(), rows, None if structure is None else structure.model)


def rules_in(content: bytes) -> tuple[Mapping[str, Any], Any]:
    """The JSON of the recipe that a file is or holds, and the structure that it was made for, if it tells that.

    Raises:
        RecipeError: it is too large, or no JSON object.
    """
    given = _document(content)
    inner = given.get("recipe")
    rules = inner if isinstance(inner, Mapping) else given
    made_for = rules.get("made_for", given.get("made_for"))
    return {key: value for key, value in rules.items() if key != "made_for"}, made_for


def _document(content: bytes) -> Mapping[str, Any]:
    if len(content) > MOST_MB * 1_000_000:
        raise RecipeError(
            "This file is too large for a recipe.", hint=f"A recipe is a JSON file of at most {MOST_MB} MB."
        )
    try:
        given = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise RecipeError("This file is not JSON.", hint=_HINT) from error
    if not isinstance(given, Mapping):
        raise RecipeError("This is not a recipe.", hint=_HINT)
    return given
