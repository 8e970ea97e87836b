from __future__ import annotations

import onnx
import onnx.parser

from core.intake.limits import newest_opset
from core.intake.load import load_model
from tests.intake.texts import HEAD, load

LISTED = "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { [add] y = Add (x, w) }"


def test_weights_listed_as_inputs_become_plain_weights() -> None:
    proto = onnx.parser.parse_model(
        HEAD + "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [add] y = Add (x, w) }"
    )
    proto.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [2]))
    proto.ir_version = 3
    model = load_model(proto.SerializeToString())
    assert [value.name for value in model.ir.graph.inputs] == ["x"]
    assert [spec.name for spec in model.inputs] == ["x"]
    assert model.ir.ir_version == 4
    assert [(repair.what, repair.count) for repair in model.repairs] == [("took weights off the list of inputs", 1)]
    onnx.checker.check_model(onnx.load_model_from_string(model.to_bytes()))


def test_constant_nodes_with_weights_are_told_and_left_alone() -> None:
    model = load("g (float[2] x) => (float[2] y) { w = Constant <value = float[2] {1, 2}> ()  [add] y = Add (x, w) }")
    assert [(repair.what, repair.count) for repair in model.repairs] == [("took Constant nodes for weights", 1)]
    assert [node.op_type for node in model.ir.graph] == ["Constant", "Add"]


def test_a_missing_operator_set_is_stated_as_the_runtime_would_take_it() -> None:
    model = load(
        "g (float[2] x) => (float[2] y) { [act] y = Relu (x) }",
        head='<ir_version: 8, opset_import: ["ai.onnx.ml" : 2]>',
    )
    assert model.opset == newest_opset("")
    assert [repair.what for repair in model.repairs] == [f"stated operator set {newest_opset('')}"]


def test_a_clean_model_needs_no_repair() -> None:
    assert load("g (float[2] x) => (float[2] y) { [act] y = Relu (x) }").repairs == ()
