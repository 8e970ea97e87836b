from __future__ import annotations

import pytest

from core.graph.activations import find_activation
from core.graph.identity import walk
from tests.intake.texts import load

STORED = "<float h = {0.5}, float one = {1}, float three = {3}, float six = {6}, float zero = {0}, float r = {1.41}>"
FORMS = {
    "Relu": "y = Relu (a)",
    "Clip": "y = Clip (a, zero, six)",
    "SiLU": "s = Sigmoid (a)  y = Mul (a, s)",
    "hard swish by HardSigmoid": "s = HardSigmoid (a)  y = Mul (s, a)",
    "hard swish by Clip": "b = Add (a, three)  c = Clip (b, zero, six)  d = Mul (a, c)  y = Div (d, six)",
    "GELU, half last": "b = Div (a, r)  c = Erf (b)  d = Add (c, one)  e = Mul (a, d)  y = Mul (e, h)",
    "GELU, half first": "b = Div (a, r)  c = Erf (b)  d = Add (c, one)  e = Mul (a, h)  y = Mul (e, d)",
    "Mish": "b = Softplus (a)  c = Tanh (b)  y = Mul (a, c)",
}


def chain(body: str, outputs: str = "float[4] y") -> list[str]:
    model = load(f"g (float[4] x) => ({outputs}) {STORED} {{ a = Abs (x)  {body} }}")
    start = next(iter(walk(model.ir))).node
    return [node.outputs[0].name or "" for node in find_activation(start.outputs[0])]


@pytest.mark.parametrize("form", FORMS)
def test_each_way_to_write_an_activation_is_one(form: str) -> None:
    body = FORMS[form]
    assert sorted(chain(body)) == sorted(part.split("=")[0].strip() for part in body.split("  "))


def test_a_value_inside_that_is_read_elsewhere_keeps_the_chain_apart() -> None:
    assert chain("s = Sigmoid (a)  y = Mul (a, s)  z = Neg (s)", "float[4] y, float[4] z") == []


def test_a_value_inside_that_is_an_output_keeps_the_chain_apart() -> None:
    assert chain("s = Sigmoid (a)  y = Mul (a, s)", "float[4] y, float[4] s") == []
    assert chain("y = Relu (a)", "float[4] y, float[4] a") == []


def test_a_gate_by_something_else_is_no_activation() -> None:
    assert chain("s = Sigmoid (x)  y = Mul (a, s)") == []
    assert chain("s = Sigmoid (a)  t = Add (a, s)  y = Neg (t)") == []


def test_one_scaling_behind_a_silu_stays_outside() -> None:
    assert chain("s = Sigmoid (a)  t = Mul (a, s)  y = Mul (t, h)") == ["s", "t"]
