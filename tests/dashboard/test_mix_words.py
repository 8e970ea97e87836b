"""What the Mix page says in words, and what it refuses to bring in."""

from __future__ import annotations

import json

import pytest

from core.errors import MixdeskError, RecipeError, UnavailableError
from core.recipe.precision import Precision
from core.recipe.resolve import resolve
from dashboard import elsewhere, mixing
from dashboard.group_views import GroupView, group_views
from dashboard.layer_rows import layer_table
from dashboard.layer_views import layer_views
from dashboard.mixing import Mix
from dashboard.offers import offers
from dashboard.widgets.mix_build import suggested_name, summary
from dashboard.widgets.mix_inspector import facts, here
from dashboard.widgets.mix_recipe import executes, read_recipe
from tests.dashboard.documents import inspect_document, machine_document, profile_document

INSPECTION = inspect_document(30)
TABLE = layer_table(INSPECTION)


def channels(mix: Mix) -> tuple[GroupView, ...]:
    layers = layer_views(INSPECTION, profile_document(INSPECTION))
    plan = resolve(mix.recipe(), TABLE)
    solo = {"stem/conv": 31.4}
    return group_views(TABLE, layers, plan, pins=mix.pins, built={"stem/conv": "fp32"}, solo_db=solo)


CONV = mixing.set_operator(Mix(), "Conv", Precision.INT8)


def test_the_summary_counts_what_is_lowered_and_what_is_refused() -> None:
    assert summary(channels(Mix())) == "22 groups: 22 in fp32"
    refused = channels(mixing.set_operator(Mix(), "Softmax", Precision.INT8))
    assert summary(refused).endswith("; 1 asked for, but refused (see Why)")


def test_a_name_is_suggested_that_says_what_is_lowered() -> None:
    assert suggested_name(channels(CONV)) == "Conv int8, 18 of 22 groups"
    assert suggested_name(channels(Mix())) == "everything in fp32"


def test_the_inspector_says_why_and_what_this_machine_does() -> None:
    stem = next(view for view in channels(CONV) if view.id == "stem/conv")
    told = dict(facts(stem, machine_document()))
    assert told["Why"] == "all Conv layers to int8"
    assert told["Last built as"] == "fp32"
    assert told["int8 here"] == "Conv is executed, 2.40x the speed of fp32"
    assert told["Alone in int8"] == "31.4 dB SQNR"
    assert told["One setting for"] == "stem/conv, stem/relu"


def test_a_refused_request_is_told_first() -> None:
    mix = mixing.set_operator(Mix(), "Softmax", Precision.INT8)
    softmax = next(view for view in channels(mix) if view.id == "head/softmax")
    assert facts(softmax, None)[0] == ("Asked for", "int8")
    assert here(softmax, None) == "this machine has not been probed yet"
    assert here(softmax, machine_document()) == "Softmax was not probed"


def test_a_recipe_from_elsewhere_is_read() -> None:
    data = json.dumps(CONV.recipe().to_dict()).encode()
    assert read_recipe(data, TABLE) == CONV


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"\xff\xfe", RecipeError, "not JSON"),
        (b"{", RecipeError, "not JSON"),
        (b"[" * 100_000, RecipeError, "not JSON"),
        (b"[]", RecipeError, "not a recipe"),
        (b'{"version": 1}', RecipeError, "not a recipe"),
        (b'{"version": 1, "rules": [{"match": "*", "precision": "fp8"}]}', UnavailableError, "fp8"),
        (b'{"version": 1, "rules": [{"match": "layer:stem/con", "precision": "int8"}]}', RecipeError, "Did you mean"),
        (b" " * (1_000_000 * elsewhere.MOST_MB + 1), RecipeError, "too large"),
    ],
)
def test_what_is_no_recipe_of_this_model_is_refused_in_one_line(
    data: bytes, error: type[MixdeskError], words: str
) -> None:
    with pytest.raises(error, match=words) as raised:
        read_recipe(data, TABLE)
    assert "\n" not in raised.value.message


def test_what_the_machine_executes_is_one_sentence() -> None:
    assert executes(offers(machine_document(), ["Conv", "Gemm"])) == "int8: executed here for Conv, Gemm."
    assert executes(offers(None, ["Conv"])).startswith("Only fp32 is offered")
