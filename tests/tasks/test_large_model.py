"""A model of ten thousand nodes is read and profiled like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.registry import run_task

BLOCKS, WIDTH = 2_500, 4


def large_model() -> onnx.ModelProto:
    """A chain of 10,000 nodes: 2,500 times MatMul, Relu, Tanh, and Add of what came in."""
    weight = numpy_helper.from_array(np.eye(WIDTH, dtype=np.float32) / 2, "w")
    nodes, value = [], "x"
    for block in range(BLOCKS):
        name = f"/part{block // 50}/block{block % 50}"
        nodes += [
            helper.make_node("MatMul", [value, "w"], [f"{name}/a"], name=f"{name}/MatMul"),
            helper.make_node("Relu", [f"{name}/a"], [f"{name}/b"], name=f"{name}/Relu"),
            helper.make_node("Tanh", [f"{name}/b"], [f"{name}/c"], name=f"{name}/Tanh"),
            helper.make_node("Add", [f"{name}/c", value], [f"{name}/d"], name=f"{name}/Add"),
        ]
        value = f"{name}/d"
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", WIDTH]) for name in ("x", value)]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, str]:
    folder: Path = tmp_path_factory.mktemp("large")
    store = Workspace.open(folder)
    return store, store.files.put(large_model().SerializeToString(), suffix=".onnx")


def test_it_is_inspected_with_every_layer_in_its_place(subject: tuple[Workspace, str]) -> None:
    store, model = subject
    document = run_task(store, "inspect", {"model": model}, Silent())
    assert document["model"]["layer_count"] == 4 * BLOCKS
    assert [finding for finding in document["findings"] if finding["severity"] == "error"] == []
    assert len({(node["x"], node["y"]) for node in document["layout"]["nodes"]}) == 4 * BLOCKS


def test_it_is_profiled_down_to_its_layers(subject: tuple[Workspace, str]) -> None:
    store, model = subject
    document = run_task(store, "profile", {"model": model, "runs": 1, "time_budget_s": 0.1}, Silent())
    assert len(document["layers"]) == 4 * BLOCKS
    assert document["attributed_share"] > 0.99
