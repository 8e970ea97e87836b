"""The mix: the last step wins, pins hold, every step can be taken back, and the recipe says it all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import RecipeError, UnavailableError
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe
from core.recipe.resolve import resolve
from dashboard import mixing
from dashboard.layer_rows import layer_table
from dashboard.mixing import History, Mix
from tests.dashboard.documents import inspect_document

TABLE = layer_table(inspect_document(30))
CONVS = [group.id for group in TABLE.groups if group.kind == "conv"]
INT8, FP32 = Precision.INT8, Precision.FP32


def decided(mix: Mix) -> dict[str, Precision]:
    return {decision.group: decision.precision for decision in resolve(mix.recipe(), TABLE).decisions}


def test_an_operator_is_set_in_one_rule() -> None:
    mix = mixing.set_operator(Mix(), "Conv", INT8)
    assert len(mix.rules) == 1
    assert all(decided(mix)[group] is INT8 for group in CONVS)


def test_the_last_step_wins() -> None:
    mix = mixing.set_operator(Mix(), "Conv", INT8)
    mix = mixing.set_groups(mix, CONVS[:2], FP32, why="set on the desk")
    found = decided(mix)
    assert [found[group] for group in CONVS[:3]] == [FP32, FP32, INT8]


def test_setting_the_same_again_leaves_one_rule() -> None:
    mix = mixing.set_groups(Mix(), CONVS[:1], INT8, why="a")
    mix = mixing.set_groups(mix, CONVS[:1], FP32, why="b")
    assert [(rule.match, rule.precision) for rule in mix.rules] == [(f"group:{CONVS[0]}", FP32)]


def test_setting_everything_makes_earlier_rules_pointless() -> None:
    mix = mixing.set_everything(mixing.set_operator(Mix(), "Conv", INT8), FP32)
    assert [rule.match for rule in mix.rules] == ["*"]


def test_a_name_is_matched_by_a_regular_expression() -> None:
    found = decided(mixing.set_matching(Mix(), "block0/conv[12]$", INT8))
    lowered = {group for group in CONVS if found[group] is INT8}
    assert lowered == {"stage1/block0/conv1", "stage1/block0/conv2"}


def test_what_is_no_regular_expression_is_refused() -> None:
    with pytest.raises(RecipeError, match="not a regular expression"):
        mixing.set_matching(Mix(), "conv[", INT8)


def test_a_pinned_group_keeps_its_precision_through_later_steps() -> None:
    mix = mixing.pin(mixing.set_operator(Mix(), "Conv", INT8), {CONVS[0]: FP32})
    mix = mixing.set_groups(mix, CONVS, INT8, why="all")
    mix = mixing.set_everything(mix, INT8)
    assert decided(mix)[CONVS[0]] is FP32
    assert decided(mix)[CONVS[1]] is INT8


def test_an_unpinned_group_stays_as_it_was_but_can_be_changed() -> None:
    mix = mixing.unpin(mixing.pin(mixing.set_operator(Mix(), "Conv", INT8), {CONVS[0]: FP32}), [CONVS[0]])
    assert decided(mix)[CONVS[0]] is FP32
    assert decided(mixing.set_groups(mix, CONVS[:1], INT8, why=""))[CONVS[0]] is INT8


def test_a_draft_comes_back_as_it_was_kept() -> None:
    mix = mixing.pin(mixing.set_operator(Mix(), "Conv", INT8), {CONVS[0]: FP32})
    assert Mix.from_dict(mix.to_dict()) == mix


def test_the_recipe_without_pins_key_builds_the_same_mix() -> None:
    mix = mixing.pin(mixing.set_operator(Mix(), "Conv", INT8), {CONVS[0]: FP32})
    plain = Recipe.from_dict(mix.recipe().to_dict())
    assert {d.group: d.precision for d in resolve(plain, TABLE).decisions} == decided(mix)


def test_a_precision_that_is_not_built_is_refused() -> None:
    with pytest.raises(UnavailableError):
        Mix.from_dict({"version": 1, "rules": [{"match": "*", "precision": "fp16"}]})


STEPS: list[Callable[[Mix], Mix]] = [
    lambda mix: mixing.set_operator(mix, "Conv", INT8),
    lambda mix: mixing.set_groups(mix, CONVS[:2], FP32, why="x"),
    lambda mix: mixing.set_everything(mix, FP32),
    lambda mix: mixing.pin(mix, {CONVS[2]: INT8}),
    lambda mix: mixing.unpin(mix, [CONVS[2]]),
    lambda _: Mix(),
]


@given(st.lists(st.sampled_from(STEPS), max_size=12))
def test_undo_and_redo_walk_through_every_step(steps: list[Callable[[Mix], Mix]]) -> None:
    history = History()
    seen = [history.present]
    for step in steps:
        history = history.do(step(history.present))
        if history.present != seen[-1]:
            seen.append(history.present)
    for mix in reversed(seen[:-1]):
        history = history.undo()
        assert history.present == mix
    assert history.undo() == history, "nothing lies before the first step"
    for mix in seen[1:]:
        history = history.redo()
        assert history.present == mix
    assert history.redo() == history


def test_a_step_after_undo_forgets_what_was_taken_back() -> None:
    history = History().do(STEPS[0](Mix())).undo().do(STEPS[3](Mix()))
    assert history.redo() == history
    assert history.present.pins == {CONVS[2]: INT8}


def test_a_step_that_changes_nothing_is_no_step() -> None:
    history = History().do(STEPS[0](Mix()))
    assert history.do(STEPS[0](history.present)) is history


def test_only_so_many_steps_are_kept() -> None:
    history = History()
    for number in range(mixing.MAX_STEPS + 50):
        history = history.do(mixing.set_matching(Mix(), f"n{number}", INT8))
    assert len(history.past) == mixing.MAX_STEPS
