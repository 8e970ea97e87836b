"""Small models as text, with every node named."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnx_ir as ir

HEADER = '<ir_version: 9, opset_import: ["" : {opset}, "com.microsoft": 1]>'


def parse(body: str, signature: str, *, opset: int = 17, weights: dict[str, tuple[int, ...]] | None = None) -> ir.Model:
    """A model whose nodes are named after their first output; `weights` become random float32 initializers."""
    proto = onnx.parser.parse_model(f"{HEADER.format(opset=opset)}\n g {signature} {{ {body} }}")
    name_nodes(proto.graph)
    chance = np.random.default_rng(0)
    for name, shape in (weights or {}).items():
        array = chance.normal(size=shape, scale=0.3).astype(np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return ir.from_proto(proto)


def name_nodes(graph: onnx.GraphProto) -> None:
    """Gives every node the name of its first output, bodies included."""
    for node in graph.node:
        node.name = node.output[0]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                name_nodes(attribute.g)


def conv_block(*, channels: int = 16) -> ir.Model:
    """Conv + batch norm + Relu, twice, with a residual addition: what the runtime turns into two layout kernels."""
    body = """
      conv1 = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(x, w1)
      bn1 = BatchNormalization(conv1, s, b, m, v)
      relu1 = Relu(bn1)
      conv2 = Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(relu1, w2)
      add = Add(conv2, relu1)
      y = Relu(add)
    """
    shape = f"[1, {channels}, 8, 8]"
    model = parse(
        body,
        f"(float{shape} x) => (float{shape} y)",
        weights={
            "w1": (channels, channels, 3, 3),
            "w2": (channels, channels, 3, 3),
            **dict.fromkeys(("s", "b", "m"), (channels,)),
        },
    )
    variance = ir.tensor(np.ones(channels, np.float32), name="v")
    value = next(value for node in model.graph for value in node.inputs if value is not None and value.name == "v")
    value.const_value = variance
    model.graph.register_initializer(value)
    return model
