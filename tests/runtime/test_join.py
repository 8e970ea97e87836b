"""The join on hand-written optimized graphs: what each kind of evidence finds without asking the runtime."""

from __future__ import annotations

from typing import Any

import pytest

from core.runtime.claims import Joined, family
from core.runtime.ends import LAYOUT_DOMAIN
from core.runtime.join import join
from core.runtime.optimized import OptimizedNode
from core.runtime.tags import TaggedModel, tag_model
from tests.runtime.models import parse

CHAIN = "conv = Conv<kernel_shape = [1, 1]>(x, w) sum = Add(conv, r) act = Relu(sum) y = Neg(act)"
SIGNATURE = "(float[1, 8, 4, 4] x, float[1, 8, 4, 4] r) => (float[1, 8, 4, 4] y)"


def _chain() -> TaggedModel:
    return tag_model(parse(CHAIN, SIGNATURE, weights={"w": (8, 8, 1, 1)}))


def _node(name: str, op_type: str, inputs: list[str], outputs: list[str], **changes: Any) -> OptimizedNode:
    given: dict[str, Any] = {
        "name": name,
        "op_type": op_type,
        "domain": "",
        "scope": (),
        "container": None,
        "inputs": tuple(inputs),
        "outputs": tuple(outputs),
        "constant": tuple(key == "" or key.startswith("weights") for key in inputs),
        "input_types": ("float32",) * len(inputs),
        "output_types": ("float32",) * len(outputs),
        "activation": None,
        "channels_last": False,
    }
    return OptimizedNode(**{**given, **changes})


def _layers(tagged: TaggedModel, entry: Joined) -> list[str | None]:
    return [tagged.nodes[tag].layer for tag in sorted(entry.claims)]


@pytest.mark.parametrize(
    ("changes", "inputs", "expected"),
    [
        ({"activation": "Relu"}, ["in", "weights", "", "rest"], ["conv", "sum", "act"]),
        ({}, ["in", "weights", "", "rest"], ["conv", "sum"]),
        ({}, ["in", "weights"], ["conv"]),
        ({"activation": "Sigmoid"}, ["in", "weights", "", "rest"], ["conv", "sum"]),
    ],
)
def test_a_layout_conv_contains_what_its_form_tells(
    changes: dict[str, Any], inputs: list[str], expected: list[str]
) -> None:
    tagged = _chain()
    nodes = [
        _node("ReorderInput", "ReorderInput", ["x"], ["in"], domain=LAYOUT_DOMAIN),
        _node("ReorderInput_token_1", "ReorderInput", ["r"], ["rest"], domain=LAYOUT_DOMAIN),
        _node("mxL0xo0_nchwc", "Conv", inputs, ["reorder_token_1"], domain=LAYOUT_DOMAIN, **changes),
        _node("mxL3x", "Neg", ["reorder_token_1"], ["y"]),
    ]
    entries = join(tagged, nodes)
    assert [entry.moving for entry in entries] == ["reorder", "reorder", None, None]
    assert _layers(tagged, entries[2]) == expected
    assert _layers(tagged, entries[3]) == ["y"]


def test_what_a_reorder_writes_under_a_known_name_is_where_the_kernel_before_it_ends() -> None:
    tagged = _chain()
    nodes = [
        _node("mxL0xo0_nchwc", "Conv", ["x", "weights", "", "r"], ["reorder_token_1"], domain=LAYOUT_DOMAIN),
        _node("ReorderOutput", "ReorderOutput", ["reorder_token_1"], ["mxL2xo0"], domain=LAYOUT_DOMAIN),
        _node("mxL3x", "Neg", ["mxL2xo0"], ["y"]),
    ]
    assert _layers(tagged, join(tagged, nodes)[0]) == ["conv", "sum", "act"]


def test_a_reorder_from_channels_last_does_the_work_of_a_transpose() -> None:
    body = "turned = Transpose<perm = [0, 3, 1, 2]>(x) conv = Conv<kernel_shape = [1, 1]>(turned, w) y = Neg(conv)"
    tagged = tag_model(parse(body, "(float[1, 4, 4, 8] x) => (float[1, 8, 4, 4] y)", weights={"w": (8, 8, 1, 1)}))
    nodes = [
        _node("ReorderInput", "ReorderInput", ["x"], ["in"], domain=LAYOUT_DOMAIN, channels_last=True),
        _node("mxL1xo0_nchwc", "Conv", ["in", "weights"], ["out"], domain=LAYOUT_DOMAIN),
        _node("ReorderOutput", "ReorderOutput", ["out"], ["mxL1xo0"], domain=LAYOUT_DOMAIN),
        _node("mxL2x", "Neg", ["mxL1xo0"], ["y"]),
    ]
    entries = join(tagged, nodes)
    assert _layers(tagged, entries[0]) == ["turned"]
    assert entries[0].moving is None
    assert _layers(tagged, entries[1]) == ["conv"]


@pytest.mark.parametrize(
    ("op_type", "bucket"),
    [
        ("Transpose", "reorder"),
        ("Reshape", "reorder"),
        ("Cast", "cast"),
        ("QuantizeLinear", "quantize"),
        ("DequantizeLinear", "quantize"),
        ("MemcpyToHost", "copy"),
    ],
)
def test_what_the_runtime_inserted_goes_to_a_bucket_and_is_looked_through(op_type: str, bucket: str) -> None:
    tagged = tag_model(parse("a = Exp(x) y = Neg(a)", "(float[4] x) => (float[4] y)"))
    nodes = [
        _node("mxL0x", "Exp", ["x"], ["mxL0xo0"]),
        _node(f"{op_type}_token_1", op_type, ["mxL0xo0"], ["moved"]),
        _node("mxL1x", "Neg", ["moved"], ["y"]),
    ]
    entries = join(tagged, nodes)
    assert [entry.moving for entry in entries] == [None, bucket, None]
    assert _layers(tagged, entries[2]) == ["y"]


def test_the_models_own_transpose_is_no_reorder() -> None:
    tagged = tag_model(parse("a = Transpose(x) y = Neg(a)", "(float[4, 3] x) => (float[3, 4] y)"))
    nodes = [_node("mxL0x", "Transpose", ["x"], ["mxL0xo0"]), _node("mxL1x", "Neg", ["mxL0xo0"], ["y"])]
    assert join(tagged, nodes)[0].moving is None


def test_a_quantized_kernel_reaches_up_to_its_quantize() -> None:
    body = """
      s = Constant<value = float {0.1}>()
      z = Constant<value = uint8 {0}>()
      q = QuantizeLinear(x, s, z)
      d = DequantizeLinear(q, s, z)
      pool = GlobalAveragePool(d)
      act = Relu(pool)
      r = QuantizeLinear(act, s, z)
      y = DequantizeLinear(r, s, z)
    """
    tagged = tag_model(parse(body, "(float[1, 8, 4, 4] x) => (float[1, 8, 1, 1] y)"))
    nodes = [
        _node("mxL0x", "QuantizeLinear", ["x"], ["mxL0xo0"], output_types=("uint8",)),
        _node(
            "mxL2x_token_1",
            "QLinearGlobalAveragePool",
            ["mxL0xo0"],
            ["renamed"],
            domain="com.microsoft",
            input_types=("uint8",),
            output_types=("uint8",),
        ),
        _node("mxL5x", "DequantizeLinear", ["renamed"], ["y"], input_types=("uint8",)),
    ]
    entries = join(tagged, nodes)
    assert _layers(tagged, entries[1]) == ["d", "pool", "act", "r"]
    assert _layers(tagged, entries[2]) == ["y"]


def test_a_kernel_that_nothing_leads_to_stays_without_owner() -> None:
    tagged = tag_model(parse("y = Neg(x)", "(float[4] x) => (float[4] y)"))
    entries = join(tagged, [_node("mystery", "Mystery", ["x"], ["lost"]), _node("mxL0x", "Neg", ["x"], ["y"])])
    assert not entries[0].claims
    assert entries[0].moving is None


def test_a_value_that_is_an_output_is_not_swallowed_by_the_kernel_before_it() -> None:
    body = "conv = Conv<kernel_shape = [1, 1]>(x, w) y = Relu(conv)"
    signature = "(float[1, 8, 4, 4] x) => (float[1, 8, 4, 4] conv, float[1, 8, 4, 4] y)"
    tagged = tag_model(parse(body, signature, weights={"w": (8, 8, 1, 1)}))
    nodes = [
        _node("conv_nchwc", "Conv", ["x", "weights"], ["out"], domain=LAYOUT_DOMAIN, activation="Relu"),
        _node("ReorderOutput", "ReorderOutput", ["out"], ["conv"], domain=LAYOUT_DOMAIN),
        _node("mxL1x", "Relu", ["conv"], ["y"]),
    ]
    assert _layers(tagged, join(tagged, nodes)[0]) == ["conv"]


@pytest.mark.parametrize(
    ("op_type", "expected"),
    [
        ("FusedConv", "Conv"),
        ("ConvTranspose", "ConvTranspose"),
        ("QGemm", "MatMul"),
        ("MatMulIntegerToFloat", "MatMul"),
        ("DynamicQuantizeLSTM", "LSTM"),
        ("Relu", None),
    ],
)
def test_fused_and_quantized_forms_are_of_one_family(op_type: str, expected: str | None) -> None:
    assert family(op_type) == expected
