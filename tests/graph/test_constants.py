from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from core.graph.constants import constant_array, is_constant_value
from core.graph.identity import walk
from tests.intake.texts import load

FORMS = {
    "an initializer": ("<float[2] w = {1, 2}>", ""),
    "a Constant node": ("", "w = Constant <value = float[2] {1, 2}> ()"),
    "a Constant node with a list": ("", "w = Constant <value_floats = [1.0, 2.0]> ()"),
    "Identity of an initializer": ("<float[2] v = {1, 2}>", "w = Identity (v)"),
    "Identity of a Constant": ("", "v = Constant <value = float[2] {1, 2}> ()  w = Identity (v)"),
    "reshaped": ("<float[2,1] v = {1, 2}, int64[1] s = {-1}>", "w = Reshape (v, s)"),
    "squeezed": ("<float[2,1] v = {1, 2}, int64[1] s = {1}>", "w = Squeeze (v, s)"),
    "turned": ("<float[1,2] v = {1, 2}, int64[1] s = {1}>", "u = Transpose (v)  w = Squeeze (u, s)"),
    "cast and scaled": ("<int8[2] v = {2, 4}, float s = {0.5}>", "u = Cast <to = 1> (v)  w = Mul (u, s)"),
    "divided": ("<float[2] v = {2, 4}, float s = {2}>", "w = Div (v, s)"),
}


def read_by_add(text: str) -> ir.Value | None:
    return next(layer.node for layer in walk(load(text).ir) if layer.node.op_type == "Add").inputs[1]


@pytest.mark.parametrize("form", FORMS)
def test_a_weight_is_found_however_it_is_written(form: str) -> None:
    stored, nodes = FORMS[form]
    found = constant_array(read_by_add(f"g (float[2] x) => (float[2] y) {stored} {{ {nodes}  y = Add (x, w) }}"))
    np.testing.assert_array_equal(found, [1, 2])


def test_a_weight_of_an_outer_graph_is_found_from_a_branch() -> None:
    text = """g (bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
      y = If (c) <
        then_branch = t () => (float[2] a) { a = Add (x, w) },
        else_branch = e () => (float[2] b) { b = Neg (x) }
      >
    }"""
    np.testing.assert_array_equal(constant_array(read_by_add(text)), [1, 2])


def test_what_is_computed_or_left_out_is_no_constant() -> None:
    assert constant_array(None) is None
    assert not is_constant_value(read_by_add("g (float[2] x) => (float[2] y) { w = Abs (x)  y = Add (x, w) }"))
    assert not is_constant_value(read_by_add("g (float[2] x, float[2] w) => (float[2] y) { y = Add (x, w) }"))


def test_a_constant_made_from_its_shape_is_one_but_a_huge_one_is_left_to_the_runtime() -> None:
    text = """g (float[2] x) => (float[2] y) <int64[1] n = {2}> {
      w = ConstantOfShape <value = float[1] {3}> (n)  y = Add (x, w) }"""
    np.testing.assert_array_equal(constant_array(read_by_add(text)), [3, 3])
    assert not is_constant_value(read_by_add(text.replace("n = {2}", "n = {1000000000}")))


def test_integers_are_divided_toward_zero() -> None:
    text = "g (int64[2] x) => (int64[2] y) <int64[2] v = {-7, 7}, int64 s = {2}> { w = Div (v, s)  y = Add (x, w) }"
    np.testing.assert_array_equal(constant_array(read_by_add(text)), [-3, 3])


def test_what_is_dequantized_has_a_precision_of_its_own() -> None:
    text = """g (float[2] x) => (float[2] y) <uint8[2] q = {1, 2}, float s = {1}, uint8 z = {0}> {
      w = DequantizeLinear (q, s, z)  y = Add (x, w) }"""
    assert not is_constant_value(read_by_add(text))


def test_what_a_loop_hands_in_is_no_constant() -> None:
    text = """g (int64 n, bool c, float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
      y = Loop (n, c, w) <body = b (int64 i, bool k, float[2] s) => (bool kk, float[2] t) {
        kk = Identity (k)  t = Add (x, s) }>
    }"""
    assert not is_constant_value(read_by_add(text))
