"""An advice applied to a mix: which groups change, which stay and why, and that it is a step like any other."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import RecipeError
from core.recipe.precision import Precision, Support
from dashboard import mixing
from dashboard.applying import applied, asks_for_int8, rules_of, told
from dashboard.layer_rows import layer_table
from dashboard.mixing import Mix
from tests.dashboard.documents import inspect_document

INSPECTION = inspect_document(30)
TABLE = layer_table(INSPECTION)
CONVS = [group.id for group in TABLE.groups if group.kind == "conv"]
EXECUTED = {"Conv": Support.EXECUTED}


def _change(precision: str, *groups: str, **session: int) -> dict[str, Any]:
    rules = [{"match": f"group:{group}", "precision": precision, "options": {}, "why": "advice"} for group in groups]
    return {"rules": rules, "session": session}


def test_rules_go_to_the_end_and_the_groups_that_change_are_told() -> None:
    mix = mixing.set_operator(Mix(), "Conv", Precision.INT8)
    after = applied(mix, _change("fp32", CONVS[1]))
    assert [rule.match for rule in after.rules] == ["op:Conv", f"group:{CONVS[1]}"]
    assert told(mix, after, TABLE, EXECUTED).startswith(f"1 group now in fp32: {CONVS[1]}.")
    assert told(after, after, TABLE, EXECUTED) == "The mix on the desk has this already."
    kept = applied(Mix(), _change("fp32", CONVS[1]))
    assert told(Mix(), kept, TABLE, EXECUTED) == "No group changes now; the rules are in the mix."


def test_a_pinned_group_keeps_its_precision_and_that_is_told() -> None:
    mix = mixing.pin(Mix(), {CONVS[0]: Precision.FP32})
    after = applied(mix, _change("int8", CONVS[0]))
    assert f"Pinned, and kept as they are: {CONVS[0]}." in told(mix, after, TABLE, EXECUTED)


def test_what_this_machine_does_not_execute_is_told_with_the_reason() -> None:
    after = applied(Mix(), _change("int8", CONVS[0]))
    words = told(Mix(), after, TABLE, {"Conv": Support.EMULATED})
    assert words == f"Not changed: {CONVS[0]} (Conv in int8 is emulated on this machine)."


def test_a_change_that_names_what_is_not_there_is_refused() -> None:
    with pytest.raises(RecipeError, match="no group 'gone'"):
        told(Mix(), applied(Mix(), _change("int8", "gone")), TABLE, EXECUTED)
    with pytest.raises(RecipeError, match="cannot match"):
        rules_of({"rules": [{"match": "?", "precision": "int8"}]})


def test_only_int8_needs_to_know_the_machine() -> None:
    assert asks_for_int8(_change("int8", "a"))
    assert not asks_for_int8(_change("fp32", "a", threads=2))
    assert not asks_for_int8(None)
