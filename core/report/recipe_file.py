"""Recipe files: a recipe as JSON, a result document or a bundle; they tell the rules and what they were made for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import NotFoundError, RecipeError
from core.recipe.recipe import Recipe

_BUNDLE = ".o3"


def recipe_document(document: Mapping[str, Any]) -> dict[str, Any]:
    """The recipe of a result (`build`, `optimize`) as it is taken away: with the structure that it was made for."""
    made_for = document.get("made_for")
    return {**document["recipe"], **({} if made_for is None else {"made_for": made_for})}


def read_recipe_file(path: Path) -> dict[str, Any]:
    """The recipe's JSON, checked, with `made_for` where the file tells it.

    Args:
        path: a recipe (.json), a result printed with --json, or a bundle (.o3).

    Raises:
        NotFoundError: there is no such file.
        RecipeError: it is none of these, or its rules cannot be read.
        BundleError: the bundle is damaged, altered or of a newer format.
        UnavailableError: it asks for what this version does not build.
    """
    if not path.exists():
        raise NotFoundError(f"There is no recipe file '{path}'.")
    return as_recipe(_of_bundle(path) if path.suffix.lower() == _BUNDLE else _json(path))


def as_recipe(document: Any) -> dict[str, Any]:
    """The recipe's JSON of a recipe, or of a result that holds one; errors as `read_recipe_file`."""
    if isinstance(document, Mapping) and "rules" not in document and isinstance(document.get("recipe"), Mapping):
        document = recipe_document(document)
    read = Recipe.from_dict(document).to_dict()
    made_for = document.get("made_for")
    return {**read, **({} if made_for is None else {"made_for": made_for})}


def _of_bundle(path: Path) -> dict[str, Any]:
    from core.report.bundle import load_bundle  # noqa: PLC0415 - opens the runtime's module: only bundles need it

    with load_bundle(path) as bundle:
        return recipe_document({"made_for": bundle.report.get("made_for"), "recipe": bundle.recipe})


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecipeError(f"The recipe '{path}' cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not UTF-8, or not JSON
        raise RecipeError(f"'{path}' is not JSON: {error}.") from error
