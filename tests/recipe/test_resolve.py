from __future__ import annotations

import pytest

from core.errors import RecipeError
from core.graph.layer import Group, Layer, LayerTable
from core.recipe.plan import Plan
from core.recipe.precision import Precision, Support
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import check_matches, resolve

INT8, FP32 = Precision.INT8, Precision.FP32


def _layer(index: int, name: str, op_type: str, group: str, inputs: str = "x") -> Layer:
    return Layer(
        id=name,
        index=index,
        op_type=op_type,
        domain="",
        group=group,
        scope=(),
        module=(),
        inputs=tuple(inputs.split()),
        outputs=(f"{name}.out",),
        input_shapes=(),
        output_shapes=(),
        dtype="float32",
        parameters=0,
        weight_bytes=0,
        activation_bytes=None,
        macs=None,
    )


def _residual() -> LayerTable:
    """conv1+relu1 -> conv2 -> add(conv2, conv1)+relu2 -> pool -> softmax."""
    layers = (
        _layer(0, "conv1", "Conv", "conv1", "x w1"),
        _layer(1, "relu1", "Relu", "conv1", "conv1.out"),
        _layer(2, "conv2", "Conv", "conv2", "relu1.out w2"),
        _layer(3, "add", "Add", "add", "conv2.out relu1.out"),
        _layer(4, "relu2", "Relu", "add", "add.out"),
        _layer(5, "pool", "GlobalAveragePool", "pool", "relu2.out"),
        _layer(6, "softmax", "Softmax", "softmax", "pool.out"),
    )
    groups = (
        Group("conv1", "conv1", "conv", ("conv1", "relu1")),
        Group("conv2", "conv2", "conv", ("conv2",)),
        Group("add", "add", "follower", ("add", "relu2")),
        Group("pool", "pool", "follower", ("pool",)),
        Group("softmax", "softmax", "other", ("softmax",)),
    )
    names = ["conv1 relu1", "relu1 conv2", "conv2 add", "relu1 add", "add relu2", "relu2 pool", "pool softmax"]
    return LayerTable(layers, groups, tuple((a, b) for a, b in (pair.split() for pair in names)))


def _precisions(plan: Plan) -> dict[str, str]:
    return {decision.layer: str(decision.precision) for decision in plan.decisions}


def test_without_rules_everything_stays() -> None:
    assert set(_precisions(resolve(Recipe(), _residual())).values()) == {"fp32"}


def test_the_last_matching_rule_wins() -> None:
    recipe = Recipe((Rule("*", INT8), Rule("layer:conv2", FP32), Rule("op:Conv", INT8), Rule("name:^conv1$", FP32)))
    plan = resolve(recipe, _residual())
    assert _precisions(plan)["conv1"] == "fp32"
    assert _precisions(plan)["conv2"] == "int8"
    assert plan.of_layer("conv2").rule == 2


def test_a_setting_on_a_layer_is_a_setting_on_its_group() -> None:
    plan = resolve(Recipe((Rule("layer:relu1", INT8),)), _residual())
    assert _precisions(plan)["conv1"] == _precisions(plan)["relu1"] == "int8"


def test_followers_keep_int8_where_all_their_feeders_have_it() -> None:
    plan = resolve(Recipe((Rule("op:Conv", INT8),)), _residual())
    assert {_precisions(plan)[name] for name in ("add", "relu2", "pool")} == {"int8"}
    assert "keeps the int8" in plan.of_layer("add").why


def test_followers_stay_where_one_feeder_is_fp32() -> None:
    plan = resolve(Recipe((Rule("layer:conv1", INT8),)), _residual())
    assert {_precisions(plan)[name] for name in ("add", "relu2", "pool")} == {"fp32"}


def test_a_follower_asked_for_int8_in_an_fp32_region_is_refused_with_a_reason() -> None:
    decision = resolve(Recipe((Rule("layer:pool", INT8),)), _residual()).of_layer("pool")
    assert (decision.requested, decision.precision) == (INT8, FP32)
    assert "only add conversions" in decision.why


def test_a_follower_can_be_held_back() -> None:
    plan = resolve(Recipe((Rule("op:Conv", INT8), Rule("layer:add", FP32))), _residual())
    assert _precisions(plan)["add"] == "fp32"
    assert _precisions(plan)["pool"] == "fp32"


def test_an_operator_without_int8_kernel_is_told() -> None:
    decision = resolve(Recipe.uniform(INT8), _residual()).of_layer("softmax")
    assert (decision.requested, decision.precision) == (INT8, FP32)
    assert decision.why == "Softmax has no static int8 kernel in this runtime"


def test_what_the_machine_cannot_execute_is_not_placed() -> None:
    plan = resolve(Recipe.uniform(INT8), _residual(), offered={"Conv": Support.UNAVAILABLE})
    assert _precisions(plan)["conv1"] == "fp32"
    assert plan.of_layer("conv1").why == "Conv in int8 is unavailable on this machine"


@pytest.mark.parametrize(
    ("match", "sentence"),
    [
        ("layer:conv11", "no layer 'conv11'. Did you mean 'conv1'"),
        ("group:con", "no group 'con'"),
        ("op:Conw", "no operator 'Conw'. Did you mean 'Conv'"),
    ],
)
def test_an_unknown_name_in_a_rule_is_one_clear_line(match: str, sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        resolve(Recipe((Rule(match, INT8),)), _residual())


def test_a_plan_tells_every_layer_in_order() -> None:
    plan = resolve(Recipe.uniform(INT8), _residual())
    rows = plan.to_dict()["layers"]
    assert [row["layer"] for row in rows] == [layer.id for layer in _residual()]
    assert all(row["why"] for row in rows)


@pytest.mark.parametrize(
    ("match", "near"),
    [("layer:conv3", "conv2"), ("group:conv3", "conv2"), ("op:Convv", "Conv"), ("name:^poool$", "pool")],
)
def test_a_rule_that_means_nothing_is_refused_with_the_nearest_name(match: str, near: str) -> None:
    with pytest.raises(RecipeError, match=f"Did you mean '{near}'"):
        check_matches(Recipe((Rule("*", INT8), Rule(match, INT8))), _residual())


def test_rules_that_mean_something_are_not_refused() -> None:
    matches = ("*", "layer:conv1", "group:add", "op:Relu", "name:^po")
    check_matches(Recipe(tuple(Rule(match, INT8) for match in matches)), _residual())
