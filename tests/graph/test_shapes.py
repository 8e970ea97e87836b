from __future__ import annotations

from core.graph.shapes import Tensor, infer_tensors
from tests.intake.texts import load


def last(text: str, **shapes: tuple[int, ...]) -> Tensor:
    tensors = infer_tensors(load(text).ir, shapes)
    return list(tensors.values())[-1].outputs[0]


def test_given_sizes_flow_through_the_graph() -> None:
    text = "g (float[n,3,h,w] x, float[8,3,3,3] k) => (float[a,b,c,d] y) { y = Conv <strides = [2,2]> (x, k) }"
    assert last(text, x=(2, 3, 9, 9)) == Tensor((2, 8, 4, 4), "float32")
    assert last(text) == Tensor(("n", 8, "?", "?"), "float32")


def test_shape_arithmetic_is_computed() -> None:
    text = """g (float[n,c,h,w] x) => (float[p,q] y) <int64 zero = {0}, int64[1] axis = {0}, int64[1] rest = {-1}> {
      s = Shape (x)  n0 = Gather (s, zero)  n1 = Unsqueeze (n0, axis)  t = Concat <axis = 0> (n1, rest)
      y = Reshape (x, t)
    }"""
    assert last(text, x=(2, 3, 4, 5)).shape == (2, 60)


def test_shape_arithmetic_of_older_operator_sets_is_computed() -> None:
    text = """g (float[n,c,h,w] x) => (float[p,q] y) <int64 zero = {0}, int64[1] rest = {-1}> {
      s = Shape (x)  n0 = Gather (s, zero)  n1 = Unsqueeze <axes = [0]> (n0)  t = Concat <axis = 0> (n1, rest)
      y = Reshape (x, t)
    }"""
    model = load(text, head='<ir_version: 7, opset_import: ["" : 11]>')
    assert list(infer_tensors(model.ir, {"x": (2, 3, 4, 5)}).values())[-1].outputs[0].shape == (2, 60)


def test_what_depends_on_data_stays_open() -> None:
    shape = last("g (float[4] x) => (int64[r,n] y) { y = NonZero (x) }").shape
    assert shape is not None
    assert shape[0] == 1
    assert isinstance(shape[1], str)


def test_an_operator_without_a_rule_keeps_the_shape_that_the_file_states() -> None:
    text = "g (float[4] x) => (float[4] y) { z = com.microsoft.Inverse (x)  y = Relu (z) }"
    assert last(text).shape is None or last(text).shape == (4,)


def test_inputs_that_are_left_out_are_nothing() -> None:
    tensors = infer_tensors(load("g (float[4] x, float m) => (float[4] y) { y = Clip (x, , m) }").ir, {})
    assert [tensor.dtype for tensor in tensors["y"].inputs] == ["float32", "", "float32"]


def test_the_model_is_not_changed() -> None:
    model = load("g (float[n] x) => (float[n] y) { y = Relu (x) }")
    before = model.to_bytes()
    infer_tensors(model.ir, {"x": (7,)})
    assert model.to_bytes() == before
