from __future__ import annotations

import pytest

from core.errors import RecipeError, UnavailableError
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule, read_precision


def test_a_recipe_survives_its_json() -> None:
    recipe = Recipe(
        rules=(
            Rule("*", Precision.INT8, why="all"),
            Rule("layer:a/b", Precision.FP32, {}, "keeps the head"),
            Rule("op:Conv", Precision.INT8, {"reduced_range": True, "granularity": "tensor"}),
        )
    )
    assert Recipe.from_dict(recipe.to_dict()) == recipe


@pytest.mark.parametrize("match", ["", "Conv", "op:", "type:Conv", "layers:x"])
def test_a_match_that_is_none_is_refused(match: str) -> None:
    with pytest.raises(RecipeError, match="cannot match"):
        Rule(match, Precision.INT8)


def test_a_broken_regular_expression_is_named() -> None:
    with pytest.raises(RecipeError, match=r"'\(' is not a regular expression"):
        Rule("name:(", Precision.INT8)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"reduced_rang": True}, "Did you mean 'reduced_range'"),
        ({"reduced_range": 1}, "cannot be 1"),
        ({"granularity": "block"}, "cannot be 'block'"),
    ],
)
def test_an_option_that_does_not_exist_is_refused(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        Rule("*", Precision.INT8, options)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"version": 1},
        {"version": 2, "rules": []},
        {"version": 1, "rules": ["x"]},
        {"version": 1, "rules": [{"match": "*"}]},
        {"version": 1, "rules": [{"match": "*", "precision": "int8", "wy": ""}]},
    ],
)
def test_what_is_no_recipe_is_refused(document: object) -> None:
    with pytest.raises(RecipeError):
        Recipe.from_dict(document)


@pytest.mark.parametrize("part", ["structure", "dynamic", "session", "calibration"])
def test_parts_that_are_not_built_yet_are_refused_and_not_ignored(part: str) -> None:
    document = {"version": 1, "rules": [], part: {"exits": [1]}}
    with pytest.raises(UnavailableError, match=part):
        Recipe.from_dict(document)


def test_precisions_that_are_not_built_yet_are_refused_and_unknown_ones_get_a_suggestion() -> None:
    with pytest.raises(UnavailableError, match="fp16 is not built"):
        read_precision("fp16")
    with pytest.raises(RecipeError, match="Did you mean 'int8'"):
        read_precision("int9")
