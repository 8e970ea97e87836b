from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from core.runtime.attribute import read_executed
from core.runtime.executed import ExecutedGraph, ExecutedNode
from core.runtime.settings import SessionSettings
from core.runtime.tags import BUCKET_KEY, LAYER_KEY
from tests.runtime.models import conv_block, parse

SETTINGS = SessionSettings()


def _read(model: ir.Model) -> ExecutedGraph:
    return read_executed(model, SETTINGS)


def _holder(graph: ExecutedGraph, layer: str) -> ExecutedNode:
    (found,) = graph.of_layer(layer)
    return found


def test_a_layout_conv_holds_its_batch_norm_and_activation() -> None:
    graph = _read(conv_block())
    assert _holder(graph, "conv1").layers == ("conv1", "bn1", "relu1")
    assert _holder(graph, "conv1").domain == "com.microsoft.nchwc"


def test_a_layout_conv_holds_the_addition_and_activation_that_its_form_tells_of() -> None:
    assert _holder(_read(conv_block()), "add").layers == ("conv2", "add", "y")


def test_layout_changes_go_to_the_reorder_bucket() -> None:
    nodes = _read(conv_block()).nodes
    assert {node.bucket for node in nodes if node.op_type.startswith("Reorder")} == {"reorder"}
    assert all(node.layers or node.bucket for node in nodes)


def test_a_decomposed_layer_norm_holds_all_its_pieces() -> None:
    body = """
      mean = ReduceMean<axes = [-1]>(x)
      centred = Sub(x, mean)
      two = Constant<value = float {2.0}>()
      squares = Pow(centred, two)
      variance = ReduceMean<axes = [-1]>(squares)
      tiny = Constant<value = float {0.00001}>()
      safe = Add(variance, tiny)
      deviation = Sqrt(safe)
      normal = Div(centred, deviation)
      scaled = Mul(normal, s)
      y = Add(scaled, b)
    """
    model = parse(body, "(float[1, 4, 8] x) => (float[1, 4, 8] y)", weights={"s": (8,), "b": (8,)})
    (node,) = _read(model).nodes
    assert node.op_type == "LayerNormalization"
    assert node.layers == (
        "mean", "centred", "squares", "variance", "safe", "deviation", "normal", "scaled", "y",
    )  # fmt: skip


def test_a_gelu_between_layout_convs_is_found_without_any_name() -> None:
    body = """
      conv1 = Conv<kernel_shape = [1, 1]>(x, w1)
      root = Constant<value = float {1.4142135}>()
      half = Constant<value = float {0.5}>()
      one = Constant<value = float {1.0}>()
      scaled = Div(conv1, root)
      erf = Erf(scaled)
      plus = Add(erf, one)
      product = Mul(conv1, plus)
      gelu = Mul(product, half)
      y = Conv<kernel_shape = [1, 1]>(gelu, w2)
    """
    signature = "(float[1, 16, 8, 8] x) => (float[1, 16, 8, 8] y)"
    graph = _read(parse(body, signature, weights={"w1": (16, 16, 1, 1), "w2": (16, 16, 1, 1)}))
    assert _holder(graph, "erf").layers == ("scaled", "erf", "plus", "product", "gelu")
    assert _holder(graph, "conv1").layers == ("conv1",)
    assert _holder(graph, "y").layers == ("y",)


def test_bodies_of_containers_are_joined_with_their_scope() -> None:
    body = """
      flag = Greater(a, b)
      y = If(flag)<
        then_branch = t () => (float[4] u) { p = Relu(x) u = Neg(p) },
        else_branch = e () => (float[4] v) { v = Abs(x) }
      >
    """
    graph = _read(parse(body, "(float[4] x, float a, float b) => (float[4] y)"))
    assert {layer: len(graph.of_layer(layer)) for layer in ("y", "y/then/p", "y/then/u", "y/else/v")} == {
        "y": 1,
        "y/then/p": 1,
        "y/then/u": 1,
        "y/else/v": 1,
    }
    assert _holder(graph, "y/then/p").scope[1] == "then"
    assert all(node.bucket is None for node in graph.nodes)


def test_a_loop_inside_an_if_keeps_the_whole_path() -> None:
    body = """
      flag = Greater(a, b)
      n = Constant<value = int64 {3}>()
      go = Constant<value = bool {1}>()
      y = If(flag)<
        then_branch = t () => (float[4] u) {
          u = Loop(n, go, x)<body = l (int64 i, bool c, float[4] s) => (bool c2, float[4] s2) {
            c2 = Identity(c) s2 = Sqrt(s)
          }>
        },
        else_branch = e () => (float[4] v) { v = Abs(x) }
      >
    """
    graph = _read(parse(body, "(float[4] x, float a, float b) => (float[4] y)"))
    assert _holder(graph, "y/then/u/body/s2").op_type == "Sqrt"


def _quantized(*, bucket: bool) -> ir.Model:
    """x -> Q -> DQ -> MatMul (weights DQ) -> Q -> DQ -> y, as a tool would write it."""
    body = """
      scale = Constant<value = float {0.02}>()
      zero = Constant<value = uint8 {128}>()
      wscale = Constant<value = float {0.01}>()
      wzero = Constant<value = int8 {0}>()
      qx = QuantizeLinear(x, scale, zero)
      dx = DequantizeLinear(qx, scale, zero)
      dw = DequantizeLinear(w, wscale, wzero)
      mm = MatMul(dx, dw)
      qy = QuantizeLinear(mm, scale, zero)
      y = DequantizeLinear(qy, scale, zero)
    """
    model = parse(body, "(float[1, 8] x) => (float[1, 8] y)")
    weights = ir.tensor(np.arange(64, dtype=np.int8).reshape(8, 8), name="w")
    value = next(value for node in model.graph for value in node.inputs if value is not None and value.name == "w")
    value.const_value = weights
    model.graph.register_initializer(value)
    for node in model.graph:
        if bucket and node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            node.metadata_props[BUCKET_KEY] = "quantize"
        elif node.op_type == "MatMul":
            node.metadata_props[LAYER_KEY] = "original/matmul"
    return model


def test_inserted_conversions_are_a_bucket_and_the_kernel_is_the_layers() -> None:
    graph = _read(_quantized(bucket=True))
    kernel = _holder(graph, "original/matmul")
    assert kernel.op_type == "QLinearMatMul"
    assert kernel.layers == ("original/matmul",)
    assert kernel.element_types == ("uint8", "uint8")
    others = [node for node in graph.nodes if node is not kernel]
    assert [(node.op_type, node.bucket) for node in others] == [
        ("QuantizeLinear", "quantize"),
        ("DequantizeLinear", "quantize"),
    ]


def test_a_models_own_conversions_are_layers() -> None:
    graph = _read(_quantized(bucket=False))
    assert _holder(graph, "original/matmul").layers == ("dx", "dw", "original/matmul", "qy")
    assert _holder(graph, "qx").bucket is None
    assert _holder(graph, "y").op_type == "DequantizeLinear"


def test_what_is_folded_away_has_no_executed_node() -> None:
    body = """
      c = Constant<value = float[2] {1.0, 2.0}>()
      folded = Neg(c)
      same = Identity(x)
      y = Add(same, folded)
    """
    graph = _read(parse(body, "(float[2] x) => (float[2] y)"))
    assert graph.of_layer("folded") == ()
    assert graph.of_layer("same") == ()
    assert _holder(graph, "y").layers == ("y",)


def test_a_plain_operator_contains_only_itself() -> None:
    """The reshape before it was removed, not fused: it costs nothing."""
    body = """
      shape = Constant<value = int64[2] {1, 4}>()
      same = Reshape(x, shape)
      y = Softmax(same)
    """
    graph = _read(parse(body, "(float[1, 4] x) => (float[1, 4] y)"))
    assert _holder(graph, "y").layers == ("y",)


def test_an_operator_written_out_as_several_goes_to_its_layer() -> None:
    body = "a = Neg(x) b = com.microsoft.FastGelu(a) y = Abs(b)"
    model = parse(body, "(float16[1, 8] x) => (float16[1, 8] y)")
    graph = _read(model)
    assert len(graph.of_layer("b")) >= 1
    assert {node.bucket for node in graph.nodes if not node.layers} <= {"cast"}


def test_names_are_unique_where_the_runtime_repeats_them() -> None:
    nodes = _read(
        parse("a = Neg(x) b = com.microsoft.FastGelu(a) y = Abs(b)", "(float16[8] x) => (float16[8] y)")
    ).nodes
    assert len({node.name for node in nodes}) == len(nodes)


def test_element_types_are_those_of_data_not_of_weights() -> None:
    graph = _read(parse("y = MatMul(x, w)", "(float[1, 4] x) => (float[1, 4] y)", weights={"w": (4, 4)}))
    assert _holder(graph, "y").element_types == ("float32", "float32")


@pytest.mark.parametrize("opset", [13, 17, 21])
def test_every_kernel_has_an_owner(opset: int) -> None:
    body = """
      conv = Conv<kernel_shape = [3, 3]>(x, w)
      act = HardSwish(conv)
      pool = GlobalAveragePool(act)
      flat = Flatten(pool)
      y = Softmax(flat)
    """
    if opset == 13:
        body = body.replace("HardSwish", "Sigmoid")
    model = parse(body, "(float[1, 3, 9, 9] x) => (float[1, 16] y)", opset=opset, weights={"w": (16, 3, 3, 3)})
    assert all(node.bucket != "unattributed" for node in _read(model).nodes)
