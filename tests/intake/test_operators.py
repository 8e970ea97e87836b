from __future__ import annotations

import onnx.parser

from core.intake.operators import check_operators
from tests.intake.texts import HEAD


def messages(text: str, head: str = HEAD) -> list[str]:
    return [finding.message for finding in check_operators(onnx.parser.parse_model(head + text))]


def test_operators_of_onnx_and_of_the_runtime_are_known() -> None:
    text = """g (float[4] x) => (float[4] y) {
      a = Relu (x)  b = com.microsoft.Gelu (a)  c = SimplifiedLayerNormalization (b, x)  y = ai.onnx.ml.Scaler (c)
    }"""
    assert messages(text) == []


def test_functions_of_the_model_are_known_and_their_bodies_checked() -> None:
    text = """g (float[4] x) => (float[4] y) { y = acme.fn.Twice (x) }
    <domain: "acme.fn", opset_import: ["" : 17]>
    Twice (a) => (b) { b = Doubble (a) }"""
    head = '<ir_version: 8, opset_import: ["" : 17, "acme.fn" : 1]>\n'
    assert messages(text, head) == ["There is no operator 'Doubble' in ai.onnx."]


def test_an_unknown_operator_in_a_branch_is_found_once() -> None:
    text = """g (bool c, float[4] x) => (float[4] y) {
      y = If (c) <
        then_branch = t () => (float[4] a) { z = Nope (x)  a = Nope (z) },
        else_branch = e () => (float[4] b) { b = Abs (x) }
      >
    }"""
    assert messages(text) == ["There is no operator 'Nope' in ai.onnx."]
