from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import onnxruntime as ort
import pytest

from core.intake.load import load_model
from core.intake.model import serialize
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.transform.lift import lift_opset
from tests.intake.several import chain, save_apart


def _model(opset: int, body: str, signature: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f'<ir_version: 7, opset_import: ["" : {opset}]>\n g {signature} {{ {body} }}')
    for number, node in enumerate(model.graph.node):
        node.name = f"n{number}"
    return onnx.shape_inference.infer_shapes(model)


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        ("y = Unsqueeze<axes=[0, 2]>(x)", "(float[3, 4, 5] x) => (float[1, 3, 1, 4, 5] y)"),
        ("a = Unsqueeze<axes=[0]>(x)  y = Squeeze<axes=[0]>(a)", "(float[3, 4, 5] x) => (float[3, 4, 5] y)"),
        ("y = ReduceSum<axes=[1], keepdims=0>(x)", "(float[3, 4, 5] x) => (float[3, 5] y)"),
        ("y = Softmax(x)", "(float[3, 4, 5] x) => (float[3, 4, 5] y)"),
        ("y = Softmax<axis=2>(x)", "(float[3, 4, 5] x) => (float[3, 4, 5] y)"),
        ("y = Softmax<axis=-1>(x)", "(float[3, 4, 5] x) => (float[3, 4, 5] y)"),
        ("y = LogSoftmax<axis=0>(x)", "(float[3, 4, 5] x) => (float[3, 4, 5] y)"),
        ("a = Softmax<axis=1>(x)  y = Relu(a)", "(float[3, 4, 5] x) => (float[3, 4, 5] y)"),
        ("y, z = Split<axis=1, split=[1, 3]>(x)", "(float[3, 4, 5] x) => (float[3, 1, 5] y, float[3, 3, 5] z)"),
    ],
)
@pytest.mark.parametrize("opset", [11, 12])
def test_a_lifted_model_gives_the_same_numbers(opset: int, body: str, signature: str) -> None:
    model = _model(opset, body, signature)
    lifted, note = lift_opset(ir.from_proto(model))
    assert note is not None
    assert f"opset {opset}" in note
    proto = ir.to_proto(lifted)
    onnx.checker.check_model(proto, full_check=True)
    assert proto.opset_import[0].version == 13
    x = {"x": np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)}
    before = ort.InferenceSession(model.SerializeToString()).run(None, x)
    after = ort.InferenceSession(proto.SerializeToString()).run(None, x)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_bodies_of_containers_are_lifted_too() -> None:
    body = """
      c = Constant<value = bool {1}>()
      y = If(c)<then_branch = t () => (float[4] a) { a = Squeeze<axes=[0]>(x) },
                else_branch = e () => (float[4] b) { b = Squeeze<axes=[0]>(x) }>
    """
    lifted, _ = lift_opset(ir.from_proto(_model(12, body, "(float[1, 4] x) => (float[4] y)")))
    data = ir.to_proto(lifted).SerializeToString()
    assert ort.InferenceSession(data).run(None, {"x": np.ones((1, 4), np.float32)})[0].shape == (4,)


def test_weights_in_other_files_survive_the_converter(tmp_path: Path) -> None:
    proto = chain(width=64)
    proto.opset_import[0].version = 9
    model = load_model(save_apart(proto, tmp_path / "net.onnx"))
    lifted, note = lift_opset(model.copy_ir())
    assert "Converted from opset 9" in str(note)
    assert [value.name for value in lifted.graph.inputs] == [value.name for value in model.ir.graph.inputs] == ["x"]
    x = {"x": np.ones((1, 64), np.float32)}
    before, after = (
        run_session(open_session(given, SessionSettings()), x)["y"] for given in (model.serialize(), serialize(lifted))
    )
    np.testing.assert_allclose(after, before, rtol=1e-6)


def test_a_new_model_is_left_alone() -> None:
    model = ir.from_proto(_model(17, "y = Relu(x)", "(float[2] x) => (float[2] y)"))
    assert lift_opset(model) == (model, None)
