from __future__ import annotations

import pytest

from core.graph.layer import LayerTable
from core.graph.read import read_layers
from tests.intake.texts import load

STORED = """<float[2,2,1,1] k = {1,1,1,1}, float[2] s = {1,1}, float[2,1,1] c = {1,2}, float[1,2,1,1] c4 = {1,2},
float[1,1,4,1] rows = {1,2,3,4}, float[2,2] m = {1,1,1,1}, int64[2] one = {1,2}, float zero = {0}, float six = {6}>"""


def table(body: str, *, given: str = "float[1,2,4,4] x", outputs: str = "float[a,b,c0,d] y") -> LayerTable:
    return read_layers(load(f"g ({given}) => ({outputs}) {STORED} {{ {body} }}"))


def groups(
    body: str, *, given: str = "float[1,2,4,4] x", outputs: str = "float[a,b,c0,d] y"
) -> list[tuple[str, list[str]]]:
    found = table(body, given=given, outputs=outputs)
    return [(group.kind, [found.layer(layer).op_type for layer in group.layers]) for group in found.groups]


@pytest.mark.parametrize(
    "behind",
    [
        ["Relu (a)"],
        ["BatchNormalization (a, s, s, s, s)", "Clip (b, zero, six)"],
        ["Mul (a, c)", "Add (b, c4)", "HardSwish (d)"],
        ["Add (a, zero)", "LeakyRelu (b)"],
    ],
)
def test_what_follows_a_convolution_and_folds_into_it_is_in_its_group(behind: list[str]) -> None:
    names = [*["b", "d", "e"][: len(behind) - 1], "y"]
    steps = "  ".join(f"{name} = {step}" for name, step in zip(names, behind, strict=True))
    expected = ["Conv", *(step.split(" ")[0] for step in behind)]
    assert groups(f"a = Conv (x, k)  {steps}") == [("conv", expected)]


def test_one_activation_ends_the_group() -> None:
    assert groups("a = Conv (x, k)  b = Relu (a)  y = Tanh (b)") == [("conv", ["Conv", "Relu"]), ("follower", ["Tanh"])]


def test_a_second_reader_ends_the_group() -> None:
    found = groups("a = Conv (x, k)  b = Relu (a)  y = Add (a, b)")
    assert found == [("conv", ["Conv"]), ("follower", ["Relu"]), ("follower", ["Add"])]


def test_an_output_of_the_graph_ends_the_group() -> None:
    found = groups("a = Conv (x, k)  y = Relu (a)", outputs="float[p,q,r,t] y, float[p,q,r,t] a")
    assert found == [("conv", ["Conv"]), ("follower", ["Relu"])]


def test_a_constant_that_varies_along_rows_does_not_fold() -> None:
    assert groups("a = Conv (x, k)  y = Mul (a, rows)") == [("conv", ["Conv"]), ("other", ["Mul"])]


def test_a_matrix_product_takes_its_bias_and_activation() -> None:
    given, outputs = "float[3,2] x", "float[p,q] y"
    assert groups("a = MatMul (x, m)  b = Add (s, a)  y = Relu (b)", given=given, outputs=outputs) == [
        ("matmul", ["MatMul", "Add", "Relu"])
    ]
    assert groups("a = Gemm (x, m, s)  y = Add (a, s)", given=given, outputs=outputs) == [
        ("gemm", ["Gemm"]),
        ("other", ["Add"]),
    ]


def test_a_bias_that_is_reshaped_and_a_weight_that_is_turned_are_constants() -> None:
    found = groups("r = Transpose <perm = [1,0,2,3]> (k)  a = Conv (x, r)  b = Unsqueeze (s, one)  y = Add (a, b)")
    assert found == [("other", ["Transpose"]), ("conv", ["Conv", "Add"]), ("other", ["Unsqueeze"])]


def test_a_product_of_two_activations_is_an_anchor_one_of_weights_is_not() -> None:
    given, outputs = "float[2,2] x", "float[p,q] y"
    assert groups("y = MatMul (x, x)", given=given, outputs=outputs) == [("matmul", ["MatMul"])]
    assert groups("a = MatMul (m, m)  y = Add (a, x)", given=given, outputs=outputs)[0] == ("other", ["MatMul"])


def test_a_residual_add_takes_its_relu() -> None:
    assert groups("a = Neg (x)  b = Add (a, x)  y = Relu (b)")[1:] == [("follower", ["Add", "Relu"])]


def test_data_movement_and_pooling_follow_shape_arithmetic_does_not() -> None:
    found = groups("p = MaxPool <kernel_shape = [2, 2]> (x)  i = Shape (p)  j = Identity (i)  y = Reshape (p, j)")
    assert found == [
        ("follower", ["MaxPool"]),
        ("other", ["Shape"]),
        ("other", ["Identity"]),
        ("follower", ["Reshape"]),
    ]


def test_anchors_that_share_a_weight_stay_apart() -> None:
    assert [kind for kind, _ in groups("a = Conv (x, k)  y = Conv (a, k)")] == ["conv", "conv"]


def test_recurrent_layers_and_fused_operators_are_anchors() -> None:
    model = load(
        "g (float[5,1,2] x) => (float[p,q,r,t] y) <float[1,12,2] w = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0},"
        " float[1,12,3] v = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}>"
        " { y = LSTM <hidden_size = 3> (x, w, v) }"
    )
    assert [group.kind for group in read_layers(model).groups] == ["recurrent"]
    assert groups('y = com.microsoft.FusedConv <activation = "Relu"> (x, k)') == [("conv", ["FusedConv"])]


def test_groups_do_not_cross_scopes() -> None:
    model = load(
        f"""g (bool q, float[1,2,4,4] x) => (float[1,2,4,4] y) {STORED} {{
          [conv] a = Conv (x, k)
          [pick] y = If (q) <
            then_branch = t () => (float[1,2,4,4] b) {{ [act] b = Relu (a) }},
            else_branch = e () => (float[1,2,4,4] d) {{ [neg] d = Neg (x) }}
          >
        }}"""
    )
    assert [group.layers for group in read_layers(model).groups] == [
        ("conv",),
        ("pick",),
        ("pick/then/act",),
        ("pick/else/neg",),
    ]


def test_every_layer_is_in_one_group_named_by_its_anchor() -> None:
    found = table("a = Conv (x, k)  b = Relu (a)  y = Add (b, x)")
    assert [layer for group in found.groups for layer in group.layers] == [layer.id for layer in found]
    assert all(found.layer(layer).group == group.id == group.anchor for group in found.groups for layer in group.layers)
