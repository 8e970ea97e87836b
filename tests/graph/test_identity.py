from __future__ import annotations

import onnx_ir as ir

from core.graph.identity import walk
from tests.intake.test_names import IF_MODEL
from tests.intake.texts import load


def test_a_copy_walks_with_the_same_ids() -> None:
    model = load(IF_MODEL)
    ids = [layer.id for layer in walk(model.ir)]
    assert [layer.id for layer in walk(model.copy_ir())] == ids
    assert [layer.id for layer in walk(ir.from_proto(ir.to_proto(model.ir)))] == ids


def test_a_layer_knows_its_scope_and_node() -> None:
    inner = list(walk(load(IF_MODEL).ir))[1]
    assert inner.scope == ("pick", "then")
    assert inner.node.op_type == "Relu"


def test_constants_are_no_layers() -> None:
    text = "g (float[2] x) => (float[2] y) { w = Constant <value = float[2] {1,2}> ()  y = Add (x, w) }"
    assert [layer.node.op_type for layer in walk(load(text).ir)] == ["Add"]
