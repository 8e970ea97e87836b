from __future__ import annotations

from pathlib import Path

import onnx_ir as ir

from core.runtime.optimized import OptimizedNode, read_optimized
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.tags import tag_model
from tests.runtime.models import conv_block, parse


def _read(model: ir.Model, tmp_path: Path) -> tuple[OptimizedNode, ...]:
    tagged = tag_model(model)
    path = tmp_path / "optimized.onnx"
    open_session(tagged.serialize(), SessionSettings(), optimized_path=path)
    return read_optimized(path, tagged)


def test_nodes_come_in_order_with_the_form_of_their_kernel(tmp_path: Path) -> None:
    nodes = _read(conv_block(), tmp_path)
    convs = [node for node in nodes if node.op_type == "Conv"]
    assert [node.activation for node in convs] == ["Relu", "Relu"]
    assert [len(node.data_inputs) for node in convs] == [1, 2]
    assert convs[1].data_inputs[0] == convs[0].outputs[0]


def test_bodies_come_right_after_their_container_and_name_it(tmp_path: Path) -> None:
    body = """
      flag = Greater(a, b)
      y = If(flag)<
        then_branch = t () => (float[4] u) { p = Exp(x) u = Neg(p) },
        else_branch = e () => (float[4] v) { c = Constant<value = float[4] {1.0, 2.0, 3.0, 4.0}>() v = Add(x, c) }
      >
    """
    nodes = _read(parse(body, "(float[4] x, float a, float b) => (float[4] y)"), tmp_path)
    container = next(node for node in nodes if node.op_type == "If")
    inner = [node for node in nodes if node.container == container.name]
    assert {node.op_type for node in inner} == {"Exp", "Neg", "Add"}
    assert {node.scope for node in inner} == {(container.name, "then"), (container.name, "else")}
    assert all(node.op_type != "Constant" for node in nodes)


def test_types_are_known_even_where_the_runtime_leaves_them_out(tmp_path: Path) -> None:
    nodes = _read(parse("s = Shape(x) c = Cast<to = 1>(s) y = Sqrt(c)", "(float[n, m] x) => (float[k] y)"), tmp_path)
    types = {node.op_type: (node.input_types, node.output_types) for node in nodes}
    assert types["Shape"] == (("float32",), ("int64",))
    assert types["Cast"] == (("int64",), ("float32",))
