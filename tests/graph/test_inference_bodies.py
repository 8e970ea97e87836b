from __future__ import annotations

import pytest

from core.graph.layer import Shape
from core.graph.shapes import infer_tensors
from tests.intake.texts import load

IF = """g (bool c, float[n,3] x) => (float[p,q] y) {{
  y = If (c) <
    then_branch = t () => (float[a,b] r) {{ r = {then} }},
    else_branch = e () => (float[a,b] s) {{ s = Neg (x) }}
  >
}}"""


def shape_of(text: str, layer: str = "y", position: int = 0, **shapes: tuple[int, ...]) -> Shape | None:
    return infer_tensors(load(text).ir, shapes)[layer].outputs[position].shape


@pytest.mark.parametrize(
    ("then", "shape"),
    [("Relu (x)", (2, 3)), ("Transpose <perm = [1, 0]> (x)", ("?", "?")), ("com.microsoft.Inverse (x)", (2, 3))],
)
def test_an_if_writes_what_both_branches_agree_on(then: str, shape: Shape) -> None:
    assert shape_of(IF.format(then=then), x=(2, 3)) == shape
    assert shape_of(IF.format(then="Relu (x)"), "y/else/s", x=(2, 3)) == (2, 3)


def test_a_known_condition_takes_its_branch() -> None:
    text = IF.format(then="Transpose <perm = [1, 0]> (x)").replace("(bool c, ", "(")
    text = text.replace("{\n  y = If", "<bool c = {1}> {\n  y = If", 1)
    assert shape_of(text, x=(2, 3)) == (3, 2)


LOOP = """g (bool c, float[n,3] x) => (float[a,b] y, float[t,d,e] z) <int64 n0 = {{4}}> {{
  [loop] y, z = Loop (n0, c, x) <body = b (int64 i, bool k, float[f,h] s) => (bool kk, float[f,h] u, float[f,h] v) {{
    kk = Identity (k)  u = {carried}  v = Relu (s) }}>
}}"""


def test_a_loop_carries_shapes_and_stacks_what_it_collects() -> None:
    text = LOOP.format(carried="Neg (s)")
    assert shape_of(text, "loop", 0, x=(2, 3)) == (2, 3)
    assert shape_of(text, "loop", 1, x=(2, 3)) == (4, 2, 3)
    assert shape_of(text, "loop/body/v", x=(2, 3)) == (2, 3)


def test_a_size_that_grows_from_turn_to_turn_is_open() -> None:
    assert shape_of(LOOP.format(carried="Concat <axis = 0> (s, s)"), "loop", 0, x=(2, 3)) == ("?", 3)


def test_a_scan_sees_slices_and_stacks_what_it_writes() -> None:
    text = """g (float[2] s0, float[5,2] x) => (float[2] s, float[5,2] y) {
      [scan] s, y = Scan <num_scan_inputs = 1, body = b (float[2] u, float[2] v) => (float[2] w, float[2] o) {
        w = Add (u, v)  o = Neg (w) }> (s0, x)
    }"""
    assert shape_of(text, "scan", 0) == (2,)
    assert shape_of(text, "scan", 1) == (5, 2)
    assert shape_of(text, "scan/body/w") == (2,)


def test_a_function_of_the_model_is_inferred_through_its_body() -> None:
    text = """g (float[n,3] x) => (float[a,b] y) { y = f.Turn (x) }
    <domain: "f", opset_import: ["" : 17]> Turn (p) => (q) { q = Transpose <perm = [1, 0]> (p) }"""
    model = load(text, head='<ir_version: 8, opset_import: ["" : 17, "f" : 1]>\n')
    assert infer_tensors(model.ir, {"x": (2, 3)})["y"].outputs[0].shape == (3, 2)
