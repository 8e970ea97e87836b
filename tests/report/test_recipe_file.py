"""Recipes are read from recipes, results and bundles, with the structure that they were made for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.errors import BundleError, NotFoundError, RecipeError
from core.report.recipe_file import as_recipe, read_recipe_file, recipe_document

RULES = {"version": 1, "rules": [{"match": "op:Conv", "precision": "int8"}]}
MADE_FOR = {"model": "m", "sha256": "ab", "layers": [{"id": "a", "op": "Conv", "group": "a", "parameters": 9}]}


def test_a_recipe_is_read_whole_and_keeps_what_it_was_made_for() -> None:
    assert as_recipe(RULES)["rules"][0]["match"] == "op:Conv"
    assert "made_for" not in as_recipe(RULES)
    assert as_recipe({**RULES, "made_for": MADE_FOR})["made_for"] == MADE_FOR


def test_a_result_gives_the_recipe_that_it_holds() -> None:
    result = {"recipe": RULES, "made_for": MADE_FOR, "layers": []}
    assert as_recipe(result) == as_recipe(recipe_document(result)) == {**as_recipe(RULES), "made_for": MADE_FOR}


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.json", None, NotFoundError),
        ("a.json", "{", RecipeError),
        ("a.json", "[]", RecipeError),
        ("a.json", '{"recipe": 5}', RecipeError),
        ("a.o3", "no bundle", BundleError),
    ],
)
def test_a_file_that_holds_no_recipe_is_refused(
    tmp_path: Path, name: str, content: str | None, error: type[Exception]
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(error):
        read_recipe_file(tmp_path / name)


def test_a_file_of_json_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    written: dict[str, Any] = {**RULES, "made_for": MADE_FOR}
    path.write_text(json.dumps(written))
    assert read_recipe_file(path) == as_recipe(written)
