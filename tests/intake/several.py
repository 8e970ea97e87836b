"""Models in several files, for tests: weights of any size written beside the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx


def save_apart(proto: onnx.ModelProto, path: Path, *, location: str = "w.bin") -> Path:
    """Writes a model with all its weights in another file, and returns the path of the model."""
    data = path.parent / location
    data.parent.mkdir(parents=True, exist_ok=True)
    with data.open("wb") as file:
        for weight in proto.graph.initializer:
            content = onnx.numpy_helper.to_array(weight).tobytes()
            plain = onnx.TensorProto(name=weight.name, data_type=weight.data_type, dims=weight.dims)
            plain.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", location), ("offset", file.tell()), ("length", len(content))):
                plain.external_data.add(key=key, value=str(value))
            weight.CopyFrom(plain)
            file.write(content)
    path.write_bytes(proto.SerializeToString())
    return path


def chain(*, width: int = 64, layers: int = 2, seed: int = 0) -> onnx.ModelProto:
    """x [n, width] -> MatMul -> Relu -> ... -> y: `layers` float weights of width x width, named w0, w1, ..."""
    chance = np.random.default_rng(seed)
    weights = [chance.standard_normal((width, width)).astype(np.float32) / width**0.5 for _ in range(layers)]
    nodes, given = [], "x"
    for number in range(layers):
        last = number == layers - 1
        nodes.append(onnx.helper.make_node("MatMul", [given, f"w{number}"], [f"m{number}"], name=f"mm{number}"))
        nodes.append(onnx.helper.make_node("Relu", [f"m{number}"], ["y" if last else f"r{number}"], name=f"re{number}"))
        given = f"r{number}"
    floats = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        nodes,
        "chain",
        [onnx.helper.make_tensor_value_info("x", floats, ["n", width])],
        [onnx.helper.make_tensor_value_info("y", floats, ["n", width])],
        [onnx.numpy_helper.from_array(weight, f"w{number}") for number, weight in enumerate(weights)],
    )
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
