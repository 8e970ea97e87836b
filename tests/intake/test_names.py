from __future__ import annotations

import onnx
import onnx_ir as ir
from onnx_ir.passes.common import NameFixPass

from core.graph.identity import walk
from core.intake.names import given_name, unique_names
from tests.intake.texts import load, to_bytes

IF_MODEL = """g (bool c, float[4] x) => (float[4] y) {
  [pick] y = If (c) <
    then_branch = t () => (float[4] a) { [act] a = Relu (x) },
    else_branch = e () => (float[4] b) { [act] b = Abs (x) }
  >
}"""


def ids(text: str) -> list[str]:
    return [layer.id for layer in walk(load(text).ir)]


def test_a_unique_name_stays_an_empty_one_becomes_the_first_output() -> None:
    model = load("g (float[4] x) => (float[4] y) { [first] a = Relu (x)  y = Abs (a) }")
    assert [layer.id for layer in walk(model.ir)] == ["first", "y"]
    assert [(repair.what, repair.count) for repair in model.repairs] == [("named nodes that had no name", 1)]


def test_the_name_in_the_file_is_remembered() -> None:
    model = load("g (float[4] x) => (float[4] y) { [n] a = Relu (x)  [n] b = Abs (a)  y = Neg (b) }")
    assert [(layer.id, given_name(layer.node)) for layer in walk(model.ir)] == [("a", "n"), ("b", "n"), ("y", "")]
    same = load(IF_MODEL.replace("{\n  [pick]", '{\n  ["pick/then/act"] z = Abs (x)\n  [pick]', 1))
    assert [given_name(layer.node) for layer in walk(same.ir)] == ["pick/then/act", "pick", "act", "act"]


def test_unique_names_are_those_of_the_library_in_bodies_too() -> None:
    text = IF_MODEL.replace(
        "{\n  [pick]", "{\n  z = Abs (x)  [act] u = Neg (z)  [act] v = Neg (z)  w = Neg (z)\n  [pick]", 1
    )
    text = text.replace("[act] a = Relu (x)", "o = Neg (x)  [act] p = Neg (o)  [act] q = Neg (p)  a = Relu (q)", 1)
    fixed = ir.from_proto(onnx.load_model_from_string(to_bytes(text)))
    NameFixPass()(fixed)
    model = load(text)
    found = unique_names(model.ir.graph)
    ours = [found[node] for node in ir.traversal.RecursiveGraphIterator(model.ir.graph)]
    assert ours == [node.name for node in ir.traversal.RecursiveGraphIterator(fixed.graph)]
    assert len(ours) == 10


def test_every_bearer_of_a_repeated_name_takes_its_first_output() -> None:
    model = load("g (float[4] x) => (float[4] y) { [n] a = Relu (x)  [n] y = Abs (a) }")
    assert [layer.id for layer in walk(model.ir)] == ["a", "y"]
    assert model.repairs[0].count == 2


def test_a_name_taken_by_another_node_is_numbered() -> None:
    assert ids("g (float[4] x) => (float[4] y) { a = Relu (x)  [a] y = Abs (a) }") == ["a_2", "a"]


def test_ids_in_branches_carry_the_path_of_their_container() -> None:
    assert ids(IF_MODEL) == ["pick", "pick/then/act", "pick/else/act"]


def test_ids_stay_unique_when_a_name_looks_like_a_path() -> None:
    found = ids(IF_MODEL.replace("{\n  [pick]", '{\n  ["pick/then/act"] z = Abs (x)\n  [pick]', 1))
    assert len(set(found)) == len(found) == 4
    assert found[0] == "pick/then/act"


def test_constants_are_named_but_not_counted_as_layers() -> None:
    model = load(
        "g (float[4] x) => (float[4] y) { w = Constant <value = float[4] {1,2,3,4}> ()  [add] y = Add (x, w) }"
    )
    assert [layer.id for layer in walk(model.ir)] == ["add"]
    assert all("named" not in repair.what for repair in model.repairs)


def test_the_same_file_always_gets_the_same_names() -> None:
    text = "g (float[4] x) => (float[4] y) { a = Relu (x)  [a] b = Abs (a)  y = Neg (b) }"
    assert ids(text) == ids(text)
