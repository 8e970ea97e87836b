from __future__ import annotations

from typing import Any

import onnx.parser

from core.graph.read import read_layers
from core.graph.summary import summarize
from core.intake.load import load_model
from core.intake.model import Model
from tests.intake.test_names import IF_MODEL
from tests.intake.texts import load


def summary(model: Model) -> dict[str, object]:
    found: dict[str, object] = summarize(model, read_layers(model))["model"]
    return found


def test_the_contracts_keys_are_there() -> None:
    model = load(IF_MODEL)
    found = summarize(model, read_layers(model))
    assert set(found["model"]) >= {
        *("name", "sha256", "bytes", "opset", "ir", "node_count", "layer_count", "group_count", "parameters", "macs"),
        *("weight_bytes", "activation_peak_bytes", "subgraph_count", "inputs", "outputs"),
    }
    assert found["ops"] == {"If": 1, "Relu": 1, "Abs": 1}
    assert (found["model"]["subgraph_count"], found["model"]["layer_count"]) == (2, 3)


def test_a_weight_that_two_layers_read_counts_once() -> None:
    found = summary(load("g (float[2] x) => (float[2] y) <float[2] w = {1,2}> { a = Add (x, w)  y = Mul (a, w) }"))
    assert (found["parameters"], found["weight_bytes"]) == (2, 8)


def test_constant_nodes_are_nodes_but_not_layers() -> None:
    found = summary(load("g (float[2] x) => (float[2] y) { w = Constant <value = float[2] {1,2}> ()  y = Add (x, w) }"))
    assert (found["node_count"], found["layer_count"], found["parameters"]) == (2, 1, 2)


def test_what_is_unknown_is_counted_not_guessed() -> None:
    found = summary(load("g (float[2,2] x) => (float[n,m] y) { i = com.microsoft.Inverse (x)  y = MatMul (i, x) }"))
    assert (found["macs"], found["macs_unknown"]) == (0, 1)
    assert found["activation_peak_bytes"] is None


def test_a_model_without_layers_costs_nothing() -> None:
    found = summary(load("g () => (float[2] y) <float[2] y = {1, 2}> { }"))
    assert (found["macs"], found["activation_peak_bytes"], found["layer_count"]) == (0, 0, 0)


def test_what_a_graph_that_cannot_be_read_holds_is_not_known() -> None:
    text = "g (float[4] x) => (float[4] y) { a = Add (x, b)  b = Relu (a)  y = Abs (b) }"
    circle = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    found = summary(load_model(bytes(circle.SerializeToString()), name="m", strict=False))
    counts = ("node_count", "layer_count", "group_count", "parameters", "macs", "weight_bytes", "subgraph_count")
    assert [found[name] for name in counts] == [None] * len(counts)
    named: dict[str, Any] = {**found}
    assert (named["inputs"][0]["name"], named["outputs"][0]["name"]) == ("x", "y")
