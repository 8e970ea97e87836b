from __future__ import annotations

import numpy as np
import onnx_ir as ir

from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.runtime.tags import BUCKET_KEY, LAYER_KEY, tag_model
from tests.runtime.models import conv_block, parse

IF_BODY = """
  flag = Greater(a, b)
  y = If(flag)<
    then_branch = t () => (float[4] u) { p = Relu(x) u = Identity(p) },
    else_branch = e () => (float[4] v) { q = Neg(x) v = Abs(q) }
  >
"""
IF_SIGNATURE = "(float[4] x, float a, float b) => (float[4] y)"


def _run(model: ir.Model, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    data = ir.to_proto(model).SerializeToString()
    return run_session(open_session(data, SessionSettings()), feed)


def test_inputs_and_outputs_keep_their_names_and_the_numbers_stay() -> None:
    model = conv_block()
    feed = {"x": np.random.default_rng(1).normal(size=(1, 16, 8, 8)).astype(np.float32)}
    tagged = tag_model(model).model
    assert [value.name for value in (*tagged.graph.inputs, *tagged.graph.outputs)] == ["x", "y"]
    np.testing.assert_array_equal(_run(tagged, feed)["y"], _run(model, feed)["y"])


def test_the_model_itself_stays_as_it_was() -> None:
    model = conv_block()
    before = ir.to_proto(model).SerializeToString()
    tag_model(model)
    assert ir.to_proto(model).SerializeToString() == before


def test_every_node_has_a_tag_that_leads_to_its_layer() -> None:
    tagged = tag_model(conv_block())
    names = [node.name or "" for node in tagged.model.graph]
    found = [tagged.nodes[tagged.tags_in(name)[0]].layer for name in names]
    assert found == ["conv1", "bn1", "relu1", "conv2", "add", "y"]


def test_a_tag_survives_what_the_runtime_makes_of_names() -> None:
    tagged = tag_model(conv_block())
    assert tagged.tags_in("fused mxL3x_nchwc_token_5") == (3,)
    assert tagged.tags_in("mxL3xo0/mxL12x/mxL0x") == (3, 0)
    assert tagged.tags_in("y_nchwc") == (5,)
    assert tagged.tags_in("ReorderOutput_token_3") == ()


def test_bodies_are_tagged_with_their_scope_and_still_run() -> None:
    model = parse(IF_BODY, IF_SIGNATURE)
    tagged = tag_model(model)
    assert {node.layer for node in tagged.nodes} == {"flag", "y", "y/then/p", "y/then/u", "y/else/q", "y/else/v"}
    for a in (0.0, 2.0):
        feed = {"x": np.array([-1, 2, -3, 4], np.float32), "a": np.array(a, np.float32), "b": np.array(1, np.float32)}
        np.testing.assert_array_equal(_run(tagged.model, feed)["y"], _run(model, feed)["y"])


def test_metadata_says_which_layer_a_node_implements_and_what_was_inserted() -> None:
    model = parse("a = Relu(x) b = Neg(a) y = Abs(b)", "(float[4] x) => (float[4] y)")
    first, second, _ = model.graph
    first.metadata_props[LAYER_KEY] = "stem/relu"
    second.metadata_props[BUCKET_KEY] = "quantize"
    nodes = tag_model(model).nodes
    assert [(node.layer, node.bucket) for node in nodes] == [("stem/relu", None), (None, "quantize"), ("y", None)]


def test_nodes_that_only_depend_on_constants_are_known_as_such() -> None:
    body = """
      c = Constant<value = float[2] {1.0, 2.0}>()
      folded = Neg(c)
      y = Add(x, folded)
    """
    nodes = tag_model(parse(body, "(float[2] x) => (float[2] y)")).nodes
    assert {node.layer: node.computed for node in nodes} == {"folded": False, "y": True}


def test_values_are_looked_through_nodes_that_do_nothing() -> None:
    tagged = tag_model(parse("a = Relu(x) b = Identity(a) y = Neg(b)", "(float[2] x) => (float[2] y)"))
    assert tagged.value("mxL1xo0") == "mxL0xo0"
    assert tagged.value("InsertedCast_mxL0xo0") == "mxL0xo0"
    assert tagged.value("reorder_token_1") is None
    assert tagged.after(0) == [2]
