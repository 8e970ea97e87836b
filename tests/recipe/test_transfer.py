"""A recipe follows renamed layers, drops what is gone, and says so; the same structure has no differences."""

from __future__ import annotations

import math
from typing import Any

import onnx
import pytest

from core.errors import RecipeError
from core.graph.layer import LayerTable
from core.graph.read import read_layers
from core.intake.load import load_model
from core.recipe.matching import match_layers
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import resolve
from core.recipe.structure import Place, Structure
from core.recipe.transfer import Transfer, transfer

NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
network (float[batch, 3, 8, 8] x) => (float[batch, {classes}] y)
<float[4, 3, 3, 3] w, float[4, 4, 3, 3] u, float[{classes}, 4] v>
{{
    [{stem}] a = Conv <pads = [1, 1, 1, 1]> (x, w)
    [{relu}] b = {act} (a)
    [{body}] c = Conv <pads = [1, 1, 1, 1]> (b, u)
    [pool] d = GlobalAveragePool (c)
    [flat] e = Flatten (d)
    [{head}] y = Gemm <transB = 1> (e, v)
}}
"""
INT8 = Precision.INT8


def layers(
    *,
    stem: str = "stem",
    relu: str = "relu",
    act: str = "Relu",
    body: str = "body",
    head: str = "head",
    classes: int = 10,
) -> LayerTable:
    text = NETWORK.format(stem=stem, relu=relu, act=act, body=body, head=head, classes=classes)
    model = onnx.parser.parse_model(text)
    sizes = {"w": (4, 3, 3, 3), "u": (4, 4, 3, 3), "v": (classes, 4)}
    del model.graph.initializer[:]
    for name, size in sizes.items():
        count = math.prod(size)
        model.graph.initializer.append(onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, size, [0.5] * count))
    return read_layers(load_model(model.SerializeToString(), name="network"))


def recipe(*matches: str) -> Recipe:
    return Recipe(rules=tuple(Rule(match, INT8) for match in matches))


def matches(found: Transfer) -> list[str]:
    return [rule.match for rule in found.recipe.rules]


def told(found: Transfer) -> list[tuple[str | None, str]]:
    return [(difference.layer, difference.what) for difference in found.differences]


def test_a_retrained_model_has_no_differences_and_keeps_every_rule() -> None:
    asked = recipe("layer:stem", "group:body", "op:Gemm", "name:^he", "*")
    found = transfer(asked, layers(), layers(), strict=True)
    assert found == Transfer(asked, ())


def test_a_rule_follows_its_layer_to_its_new_name() -> None:
    found = transfer(recipe("layer:stem", "group:body"), layers(), layers(stem="conv_a", body="conv_b"))
    assert matches(found) == ["layer:conv_a", "group:conv_b"]
    assert told(found) == [("stem", "renamed"), ("body", "renamed")]
    assert "'conv_a'" in found.differences[0].why
    resolve(found.recipe, layers(stem="conv_a", body="conv_b"))


def test_a_head_of_another_size_is_told_and_its_rule_kept() -> None:
    found = transfer(recipe("layer:head"), layers(), layers(classes=5))
    assert matches(found) == ["layer:head"]
    assert told(found) == [("head", "changed")]
    assert found.differences[0].why == "had 40 weights, has 20"


def test_another_operator_under_the_same_name_is_told() -> None:
    found = transfer(recipe("layer:relu"), layers(), layers(act="Sigmoid"))
    assert [difference.why for difference in found.differences] == ["was Relu, is Sigmoid"]


def test_a_rule_without_its_layer_is_dropped_and_said() -> None:
    found = transfer(recipe("layer:extra", "op:Softmax", "op:Conv"), None, layers())
    assert matches(found) == ["op:Conv"]
    assert told(found) == [("extra", "rule dropped"), (None, "rule dropped")]


def test_a_layer_that_is_gone_and_one_that_is_new_are_told() -> None:
    source = Structure.of(layers())
    longer = Structure((*source, Place("probabilities", "Softmax", "probabilities", 0)), "network")
    assert told(transfer(recipe("*"), longer, layers())) == [("probabilities", "missing")]
    shorter = Structure(source.places[:-1], "network")
    assert told(transfer(recipe("*"), shorter, layers())) == [("head", "new")]


@pytest.mark.parametrize("match", ["layer:extra", "group:extra", "op:Softmax", "name:extra"])
def test_strict_refuses_what_has_no_layer(match: str) -> None:
    with pytest.raises(RecipeError, match=match.partition(":")[2]):
        transfer(recipe(match), layers(), layers(), strict=True)


def test_a_pattern_keeps_what_it_meant_under_the_old_names() -> None:
    found = transfer(recipe("name:^stem$", "*"), layers(), layers(stem="conv_a"))
    assert matches(found) == ["name:^stem$", "layer:conv_a", "*"]
    assert ("conv_a", "rule added") in told(found)


def test_a_pattern_that_meets_nothing_any_more_is_dropped() -> None:
    for source in (layers(), None):
        found = transfer(recipe("name:nowhere"), source, layers())
        assert matches(found) == []
        assert told(found) == [(None, "rule dropped")]


def test_layers_that_could_be_exchanged_are_not_guessed() -> None:
    def chain(*names: str) -> Structure:
        return Structure(tuple(Place(name, "Relu", name, 0) for name in ("first", *names, "last")))

    assert match_layers(chain("a", "b", "c"), chain("p", "q")) == {"first": "first", "last": "last"}
    assert match_layers(chain("a", "b"), chain("p", "q")) == {"first": "first", "a": "p", "b": "q", "last": "last"}


def test_layers_that_changed_places_are_not_taken_for_a_stretch() -> None:
    source = Structure(tuple(Place(name, "Relu", name, 0) for name in ("one", "a", "b", "two")))
    target = Structure(tuple(Place(name, "Relu", name, 0) for name in ("two", "p", "q", "one")))
    assert match_layers(source, target) == {"one": "one", "two": "two"}


def test_layers_between_known_neighbours_are_found_though_others_are_gone() -> None:
    source = Structure.of(layers())
    target = Structure.of(layers(body="conv_b"))
    without_stem = Structure(tuple(place for place in target if place.id != "stem"), None)
    assert match_layers(source, without_stem)["body"] == "conv_b"


def test_a_structure_survives_its_json() -> None:
    structure = Structure.of(layers(), model="network", sha256="ab")
    assert Structure.from_dict(structure.to_dict()) == structure


UNREADABLE = {"id": "a", "op": "b", "group": "a", "parameters": "x"}


@pytest.mark.parametrize("wrong", [[], {}, {"layers": [1]}, {"layers": [{"id": "a"}]}, {"layers": [UNREADABLE]}])
def test_what_is_no_structure_is_refused(wrong: Any) -> None:
    with pytest.raises(RecipeError, match="made_for"):
        Structure.from_dict(wrong)
