"""A residual network of very many tiny layers, for benchmarks of what large models do to pages and jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_CHANNELS, _EDGE = 4, 8
_BLOCKS_PER_STAGE = 12
_LAYERS_PER_BLOCK = 6


def write_deep_model(path: Path, layers: int, *, seed: int = 0) -> int:
    """Writes a model of about `layers` layers whose names carry module paths; returns how many it has.

    Stages hold twelve blocks, and each block two convolutions, a join and activations, every one of a few microseconds.
    """
    network = _Network(np.random.default_rng(seed))
    value = network.add("/stem/conv/Conv", "Conv", ["image", network.weight()])
    for block in range(max(1, (layers - 4) // _LAYERS_PER_BLOCK)):
        value = network.block(f"/stage{block // _BLOCKS_PER_STAGE}/block{block % _BLOCKS_PER_STAGE}", value)
    value = network.add("/head/pool/GlobalAveragePool", "GlobalAveragePool", [value])
    value = network.add("/head/Flatten", "Flatten", [value])
    network.add("/head/Softmax", "Softmax", [value], outputs=["scores"])
    graph = helper.make_graph(
        network.nodes,
        "deep",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, _CHANNELS, _EDGE, _EDGE])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, _CHANNELS])],
        network.weights,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return len(network.nodes)


class _Network:
    """Nodes and weights so far."""

    def __init__(self, chance: np.random.Generator) -> None:
        self._chance = chance
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self) -> str:
        """A new 3x3 kernel, small enough that depth does not make values explode."""
        name = f"weight{len(self.weights)}"
        values = self._chance.normal(0.0, 0.1, (_CHANNELS, _CHANNELS, 3, 3)).astype(np.float32)
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def add(self, name: str, op: str, inputs: list[str], *, outputs: list[str] | None = None) -> str:
        """A node; returns the name of its output."""
        pads: dict[str, Any] = {"pads": [1, 1, 1, 1]} if op == "Conv" else {}
        made = outputs or [f"{name}_output_0"]
        self.nodes.append(helper.make_node(op, inputs, made, name=name, **pads))
        return made[0]

    def block(self, at: str, source: str) -> str:
        """Two convolutions and a sigmoid beside them, joined with what came in."""
        first = self.add(f"{at}/conv1/Conv", "Conv", [source, self.weight()])
        active = self.add(f"{at}/act/Sigmoid", "Sigmoid", [first])
        second = self.add(f"{at}/conv2/Conv", "Conv", [active, self.weight()])
        gate = self.add(f"{at}/gate/Sigmoid", "Sigmoid", [source])
        gated = self.add(f"{at}/Mul", "Mul", [second, gate])
        return self.add(f"{at}/Add", "Add", [gated, source])
