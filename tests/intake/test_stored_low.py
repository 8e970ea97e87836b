"""What a file says of its own precision."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
from onnx import TensorProto, helper, numpy_helper
from onnx.parser import parse_model

from core.intake.load import load_model
from core.intake.stored_low import stored_low


def messages(text: str) -> list[str]:
    return [finding.message for finding in stored_low(ir.from_proto(parse_model(text)))]


def test_int8_weights_behind_cast_and_mul_are_recognised() -> None:
    found = messages("""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[n, 4] x) => (float[n, 4] y)
        <int8[4, 4] stored = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}, float scale = {0.1}>
        { wide = Cast<to = 1>(stored)  w = Mul(wide, scale)  y = MatMul(x, w) }
    """)
    assert found == ["The model is quantized already: one weight is stored as int8 and widened by Cast and Mul."]


def test_a_table_of_small_integers_that_is_only_looked_up_is_no_weight() -> None:
    found = messages("""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (int64[n] x) => (float[n] y)
        <uint8[16] table = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}>
        { wide = Cast<to = 1>(table)  y = Gather(wide, x) }
    """)
    assert found == []


def test_quantized_operators_are_counted() -> None:
    found = messages("""
        <ir_version: 8, opset_import: ["" : 17]>
        agraph (float[n, 4] x) => (float[n, 4] y)
        <float scale = {0.1}, uint8 zero = {128}>
        { q = QuantizeLinear(x, scale, zero)  y = DequantizeLinear(q, scale, zero) }
    """)
    assert found == ["The model is quantized already (1 QuantizeLinear, 1 DequantizeLinear)."]


def test_half_precision_weights_are_said() -> None:
    weight = numpy_helper.from_array(np.ones((4, 4), "float16"), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, ["n", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, ["n", 4])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    found = load_model(onnx.ModelProto.SerializeToString(model)).findings
    assert [finding.message for finding in found] == ["One weight is stored as float16."]
