from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import onnxruntime as ort

from core.transform.expose import containers, expose_scalar

_IN_A_LOOP_IN_A_BRANCH = """
<ir_version: 8, opset_import: ["" : 17]>
g (bool c, float[4] x) => (float[4] y) {
  y = If(c)<
    then_branch = t () => (float[4] a) {
      n = Constant<value = int64 {3}>()
      go = Constant<value = bool {1}>()
      a = Loop(n, go, x)<body = l (int64 i, bool keep, float[4] s) => (bool on, float[4] next) {
        on = Identity(keep)
        next = Add(s, s)
      }>
    },
    else_branch = e () => (float[4] b) { b = Neg(x) }>
}
"""


def _nodes(model: ir.Model) -> dict[str, ir.Node]:
    return {node.op_type: node for node in model.graph.all_nodes()}


def test_a_value_inside_a_loop_inside_a_branch_comes_out_once_per_iteration() -> None:
    proto = onnx.parser.parse_model(_IN_A_LOOP_IN_A_BRANCH)
    for number, node in enumerate(proto.graph.node):
        node.name = f"n{number}"
    model = ir.from_proto(proto)
    add = _nodes(model)["Add"]
    low = ir.node("ReduceMin", [add.outputs[0]], {"keepdims": 0}, name="low")
    low.outputs[0].name, low.outputs[0].type = "low", ir.TensorType(ir.DataType.FLOAT)
    low.outputs[0].shape = ir.Shape(())
    add.append(low)
    body = add.graph
    assert isinstance(body, ir.Graph)
    name = expose_scalar(low.outputs[0], body, containers(model))
    session = ort.InferenceSession(ir.to_proto(model).SerializeToString())
    x = np.array([1, 2, 3, 4], np.float32)
    taken = session.run(["y", name], {"c": np.array(True), "x": x})
    np.testing.assert_array_equal(taken[0], x * 8)
    np.testing.assert_array_equal(np.ravel(taken[1]), [2, 4, 8])
    absent = session.run(["y", name], {"c": np.array(False), "x": x})
    np.testing.assert_array_equal(absent[0], -x)
    assert absent[1].size == 0
