from __future__ import annotations

import onnx.parser

from core.intake.structure import check_structure, sort_graphs, sorted_nodes
from tests.intake.texts import HEAD

CAPTURE = """g (bool c, float[4] x) => (float[4] y) {
  y = If (c) <
    then_branch = t () => (float[4] a) { a = Relu (late) },
    else_branch = e () => (float[4] b) { b = Abs (x) }
  >
  late = Neg (x)
}"""


def graph(text: str) -> onnx.GraphProto:
    return onnx.parser.parse_model(HEAD + text).graph


def test_a_sound_graph_has_nothing_to_report() -> None:
    assert list(check_structure(graph(CAPTURE))) == []


def test_a_branch_waits_for_what_it_takes_from_outside() -> None:
    captured = graph(CAPTURE)
    assert sorted_nodes(captured) == [1, 0]
    assert sort_graphs(captured) == 1
    assert [node.op_type for node in captured.node] == ["Neg", "If"]
    assert sort_graphs(captured) == 0


def test_an_output_that_nothing_writes_is_an_error() -> None:
    found = list(check_structure(graph("g (float[4] x) => (float[4] yy) { y = Relu (x) }")))
    assert [finding.message for finding in found] == ["Nothing writes the output 'yy'. Did you mean 'y'?"]


def test_a_value_written_over_an_input_is_an_error() -> None:
    found = list(check_structure(graph("g (float[4] x) => (float[4] x) { x = Relu (x) }")))
    assert "written twice" in found[0].message


def test_a_value_of_a_branch_is_not_visible_outside() -> None:
    text = CAPTURE.replace("Neg (x)", "Neg (a)")
    assert any("reads 'a'" in finding.message for finding in check_structure(graph(text)))
