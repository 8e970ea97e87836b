"""Recipes from elsewhere: read from whatever JSON holds one, fitted, and every difference said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import RecipeError
from core.graph.layer import LayerTable
from core.recipe.structure import Structure
from dashboard.elsewhere import Brought, read
from dashboard.layer_rows import layer_table
from tests.dashboard.documents import inspect_document

RULES = [{"match": "op:Conv", "precision": "int8"}, {"match": "op:LSTM", "precision": "int8"}]


@pytest.fixture(scope="module")
def table() -> LayerTable:
    return layer_table(inspect_document(30))


def taken(table: LayerTable, document: Any) -> Brought:
    return read("mine", json.dumps(document).encode(), table)


def test_rules_that_fit_are_taken_and_others_are_listed(table: LayerTable) -> None:
    made_for = Structure.of(table, model="before").to_dict()
    brought = taken(table, {"version": 1, "rules": RULES, "made_for": made_for})
    assert [rule["match"] for rule in brought.recipe["rules"]] == ["op:Conv"]
    assert [row["what"] for row in brought.differences] == ["rule dropped"]
    assert brought.line == "1 rule fits this model; 1 rule is left out"


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("op:Conf", r"no operator 'Conf'\. Did you mean 'Conv'"),
        ("layer:nowhere", "no layer 'nowhere'"),
        ("group:nowhere", "no group 'nowhere'"),
        ("name:^nowhere$", r"No layer of the model has a name that '\^nowhere\$' finds"),
    ],
)
def test_where_nobody_says_what_it_was_made_for_a_rule_that_means_nothing_is_a_mistake(
    table: LayerTable, match: str, said: str
) -> None:
    with pytest.raises(RecipeError, match=said):
        taken(table, {"version": 1, "rules": [RULES[0], {"match": match, "precision": "int8"}]})


def test_the_document_of_a_build_holds_a_recipe_too(table: LayerTable) -> None:
    made_for = Structure.of(table, model="before").to_dict()
    brought = taken(table, {"recipe": {"version": 1, "rules": RULES[:1]}, "made_for": made_for, "layers": []})
    assert brought.made_for == "before"
    assert brought.line == "1 rule fits this model as it is"
    assert brought.differences == ()


def test_layers_that_are_gone_are_said(table: LayerTable) -> None:
    made_for = Structure.of(table, model="before").to_dict()
    gone = {"id": "extra", "op": "LSTM", "group": "extra", "parameters": 7}
    made_for["layers"].append(gone)
    rule = {"match": "layer:extra", "precision": "int8"}
    brought = taken(table, {"version": 1, "rules": [rule], "made_for": made_for})
    assert {(row["layer"], row["what"]) for row in brought.differences} == {
        ("extra", "missing"),
        ("extra", "rule dropped"),
    }


def test_pins_of_a_draft_become_rules(table: LayerTable) -> None:
    group = table.groups[0].id
    brought = taken(table, {"version": 1, "rules": [], "pins": {group: "fp32"}})
    assert [rule["match"] for rule in brought.recipe["rules"]] == [f"group:{group}"]


@pytest.mark.parametrize("content", [b"\xff", b"{", b"[]", b'{"rules": 3}', b'{"version": 99, "rules": []}'])
def test_what_is_no_recipe_is_refused(table: LayerTable, content: bytes) -> None:
    with pytest.raises(RecipeError):
        read("mine", content, table)
