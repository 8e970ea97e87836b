from __future__ import annotations

import pytest

from core.errors import RecipeError
from core.graph.read import read_layers
from tests.intake.test_names import IF_MODEL
from tests.intake.texts import load

NET = """g (float[n,2] x) => (float[n,2] y) <float[2,2] w = {1,2,3,4}> {
  ["/net/net.0/MatMul"] a = MatMul (x, w)
  ["/net/act/Relu"] b = Relu (a)
  ["/Add"] y = Add (a, b)
}"""


def test_a_layer_has_all_that_the_table_promises() -> None:
    layer = read_layers(load(NET)).layers[0]
    assert layer.id == "/net/net.0/MatMul"
    assert (layer.index, layer.op_type, layer.domain, layer.scope) == (0, "MatMul", "", ())
    assert layer.module == ("net", "0")
    assert (layer.inputs, layer.outputs) == (("x", "w"), ("a",))
    assert (layer.input_shapes, layer.output_shapes) == (((1, 2), (2, 2)), ((1, 2),))
    assert (layer.dtype, layer.parameters, layer.weight_bytes) == ("float32", 4, 16)
    assert (layer.activation_bytes, layer.macs) == (8, 4)


def test_given_shapes_replace_the_proposed_ones() -> None:
    assert read_layers(load(NET), shapes={"x": (6, 2)}).layers[0].macs == 24


def test_edges_say_who_feeds_whom() -> None:
    table = read_layers(load(NET))
    assert table.edges == (
        ("/net/net.0/MatMul", "/net/act/Relu"),
        ("/net/net.0/MatMul", "/Add"),
        ("/net/act/Relu", "/Add"),
    )
    assert table.predecessors["/Add"] == ("/net/net.0/MatMul", "/net/act/Relu")


def test_a_container_feeds_the_layers_that_read_its_bodys_inputs_and_outer_values_cross_scopes() -> None:
    table = read_layers(
        load(
            """g (int64 n, bool c, float[2] x) => (float[2] y) {
              [before] w = Abs (x)
              [loop] y = Loop (n, c, w) <body = b (int64 i, bool k, float[2] s) => (bool kk, float[2] t) {
                [keep] kk = Identity (k)  [add] t = Add (s, w) }>
            }"""
        )
    )
    assert ("loop", "loop/body/add") in table.edges
    assert ("before", "loop/body/add") in table.edges
    assert ("before", "loop") in table.edges


def test_an_unknown_layer_is_refused_with_the_nearest() -> None:
    table = read_layers(load(IF_MODEL))
    assert "pick/then/act" in table
    with pytest.raises(RecipeError, match="Did you mean 'pick/then/act'"):
        table.layer("pick/then/acts")
    with pytest.raises(RecipeError, match="no group 'x'"):
        table.group("x")


def test_a_model_without_layers_is_an_empty_table() -> None:
    table = read_layers(load("g () => (float[2] y) <float[2] y = {1, 2}> { }"))
    assert (len(table), table.groups, table.edges) == (0, (), ())
