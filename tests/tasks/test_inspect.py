"""Inspect describes a model without loss, and stays friendly where no data can be made up."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from core.errors import DataError
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.inspect import inspect


def test_layers_and_groups_are_told_without_loss(store: Workspace, network: dict[str, Any]) -> None:
    document = inspect(store, network, Silent())
    assert document["model"]["layer_count"] == len(document["layers"]) == 5
    conv, relu = document["layers"][:2]
    assert (conv["id"], conv["op"], conv["group"], conv["group_kind"]) == ("conv", "Conv", "conv", "conv")
    assert relu["group"] == "conv"
    assert conv["inputs"] == ["x", "w"]
    assert conv["input_shapes"][0] == [1, 3, 16, 16]
    assert conv["macs"] == 8 * 3 * 9 * 256
    assert {group["id"]: group["layers"] for group in document["groups"]}["conv"] == ["conv", "relu"]
    assert [place["layer"] for place in document["layout"]["nodes"]] == [layer["id"] for layer in document["layers"]]
    assert document["ops"] == {"Conv": 1, "Relu": 1, "GlobalAveragePool": 1, "Flatten": 1, "Gemm": 1}


def test_an_input_of_unknown_rank_is_a_finding_not_a_refusal(store: Workspace) -> None:
    model = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["" : 17]>
    open (float[N] x) => (float[N] y) { y = Relu (x) }
    """)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    params = {"model": store.files.put(model.SerializeToString())}
    document = inspect(store, params, Silent())
    assert document["data"] is None
    assert any("x" in finding["message"] for finding in document["findings"])
    with pytest.raises(DataError):
        inspect(store, {**params, "shapes": {"z": [1]}}, Silent())
