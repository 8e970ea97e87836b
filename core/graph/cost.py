"""Costs: multiply-accumulates, parameters and bytes of one layer.

Convolutions and matrix products count one multiply-accumulate per weight use: outputs x (inputs of one output). LSTM,
GRU and RNN count their gates' products for every step, attention its projections and both products over the sequence.
Everything else (element-wise, pooling, normalization, data movement, containers) counts 0: memory bounds it, not
arithmetic. A body counts once, however often its loop turns. Unknown shapes give None.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from core.graph.constants import constant_tensor, is_data_movement
from core.graph.layer import Shape
from core.graph.shapes import LayerTensors, Tensor
from core.intake.specs import dtype_name

Rule = Callable[[ir.Node, LayerTensors], int | None]

#: Operators of other domains are calls of functions that the model itself defines.
_COUNTED_DOMAINS = ("", "ai.onnx.ml", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")
#: Element types of shapes, indices and switches: constants of these types are not parameters.
_NOT_PARAMETERS = ("int64", "bool", "str", "")


def count_macs(node: ir.Node, tensors: LayerTensors) -> int | None:
    """Multiply-accumulates of one run of a layer; None where a shape that matters is unknown, or what a call does."""
    if node.domain not in _COUNTED_DOMAINS:
        return None
    rule = _RULES.get(node.op_type)
    return 0 if rule is None else rule(node, tensors)


def read_constants(node: ir.Node) -> list[ir.TensorProtocol]:
    """The different constants that a layer reads, not counting one that it merely renames, reshapes or turns."""
    moved = node.inputs[:1] if is_data_movement(node) else ()
    tensors = {value: constant_tensor(value) for value in node.inputs if value is not None and value not in moved}
    return [tensor for tensor in tensors.values() if tensor is not None]


def count_parameters(tensor: ir.TensorProtocol) -> int:
    """How many parameters a stored tensor holds: its elements, unless they are indices, shapes or switches."""
    return 0 if dtype_name(tensor.dtype) in _NOT_PARAMETERS else int(tensor.size)


def attribute_parameters(node: ir.Node) -> int:
    """Numbers that classical models (trees, linear classifiers) keep in attributes: their float lists."""
    if node.domain != "ai.onnx.ml":
        return 0
    lists = [item for item in node.attributes.values() if item.type == ir.AttributeType.FLOATS]
    return sum(len(item.as_floats()) for item in lists)


def attribute_bytes(node: ir.Node) -> int:
    """Bytes of the number lists that classical models keep in attributes (floats 4, integers 8 each)."""
    if node.domain != "ai.onnx.ml":
        return 0
    integers = [item for item in node.attributes.values() if item.type == ir.AttributeType.INTS]
    return 4 * attribute_parameters(node) + 8 * sum(len(item.as_ints()) for item in integers)


def tensor_bytes(tensor: Tensor) -> int | None:
    """Bytes of one activation; None where its shape is open or its elements have no fixed size."""
    elements = _elements(tensor.shape)
    if elements is None or tensor.dtype in ("", "str"):
        return None
    return elements * np.dtype(tensor.dtype).itemsize


def output_bytes(node: ir.Node, tensors: LayerTensors) -> int | None:
    """Bytes that a layer writes; None where one of the outputs that something needs is unknown."""
    sizes = [
        tensor_bytes(tensor)
        for value, tensor in zip(node.outputs, tensors.outputs, strict=True)
        if value.uses() or value.is_graph_output()
    ]
    return None if any(size is None for size in sizes) else sum(size or 0 for size in sizes)


def _elements(shape: Shape | None) -> int | None:
    if shape is None or any(isinstance(size, str) for size in shape):
        return None
    return math.prod(int(size) for size in shape)


def _shape(tensors: tuple[Tensor, ...], position: int) -> Shape | None:
    return tensors[position].shape if position < len(tensors) else None


def _times(*factors: int | str | None) -> int | None:
    """The product of sizes; None where one is unknown or a symbol."""
    product = 1
    for factor in factors:
        if not isinstance(factor, int):
            return None
        product *= factor
    return product


def _conv(weight: int) -> Rule:
    """Outputs x (input channels per group x kernel), for weights [out, in / groups, kernel...]."""

    def rule(_: ir.Node, tensors: LayerTensors) -> int | None:
        kernel = _shape(tensors.inputs, weight)
        return _times(_elements(_shape(tensors.outputs, 0)), _elements(kernel[1:] if kernel else None))

    return rule


def _conv_transpose(_: ir.Node, tensors: LayerTensors) -> int | None:
    """Inputs x (output channels per group x kernel), for weights [in, out / groups, kernel...]."""
    kernel = _shape(tensors.inputs, 1)
    return _times(_elements(_shape(tensors.inputs, 0)), _elements(kernel[1:] if kernel else None))


def _matmul(node: ir.Node, tensors: LayerTensors) -> int | None:
    """Outputs x inner size: the last axis of the first operand, the one before it where that is transposed."""
    left = _shape(tensors.inputs, 0)
    if not left:
        return None
    transposed = "transA" in node.attributes and node.attributes["transA"].as_int() and len(left) > 1
    return _times(_elements(_shape(tensors.outputs, 0)), left[-2] if transposed else left[-1])


def _recurrent(recurrence: int) -> Rule:
    """Steps x batch x (W + R), for X [steps, batch, in] and the weights W, R of all gates and directions."""

    def rule(_: ir.Node, tensors: LayerTensors) -> int | None:
        sequence = _shape(tensors.inputs, 0)
        inward, recurrent = _elements(_shape(tensors.inputs, 1)), _elements(_shape(tensors.inputs, recurrence))
        if sequence is None or len(sequence) < 2 or inward is None or recurrent is None:
            return None
        return _times(sequence[0], sequence[1], inward + recurrent)

    return rule


def _einsum(node: ir.Node, tensors: LayerTensors) -> int | None:
    """The product of all different index sizes of a two-operand equation without "..."."""
    equation = node.attributes["equation"].as_string().replace(" ", "")
    terms = equation.split("->")[0].split(",")
    if len(terms) != 2 or "." in equation:
        return None
    sizes: dict[str, int | str] = {}
    for term, tensor in zip(terms, tensors.inputs, strict=True):
        if tensor.shape is None or len(tensor.shape) != len(term):
            return None
        sizes.update(zip(term, tensor.shape, strict=True))
    return _times(*sizes.values())


def _attention(_: ir.Node, tensors: LayerTensors) -> int | None:
    """Projections of fused attention (input x weights [hidden, 3 x hidden']) and the two products over the sequence."""
    given, weights, output = _shape(tensors.inputs, 0), _shape(tensors.inputs, 1), _shape(tensors.outputs, 0)
    if given is None or weights is None or output is None or len(given) != 3 or len(weights) != 2:
        return None
    projection = _times(given[0], given[1], _elements(weights))
    products = _times(2, _elements(output), given[1])
    return None if projection is None or products is None else projection + products


def _attention_products(_: ir.Node, tensors: LayerTensors) -> int | None:
    """The two products of attention over separate queries, keys and values: 2 x outputs x length of the keys."""
    keys = _shape(tensors.inputs, 1)
    return _times(2, _elements(_shape(tensors.outputs, 0)), keys[-2] if keys and len(keys) >= 2 else None)


def _any_attention(node: ir.Node, tensors: LayerTensors) -> int | None:
    """The runtime's own `Attention` holds the projections, that of ONNX has them before it."""
    return _attention(node, tensors) if node.domain == "com.microsoft" else _attention_products(node, tensors)


_MATRIX_PRODUCTS = frozenset({
    "Gemm", "MatMul", "FusedGemm", "FusedMatMul", "TransposeMatMul", "MatMulInteger", "QLinearMatMul", "QGemm",
    "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "MatMulNBits",
})  # fmt: skip
_RULES: dict[str, Rule] = {
    "Conv": _conv(1),
    "FusedConv": _conv(1),
    "ConvInteger": _conv(1),
    "QLinearConv": _conv(3),
    "DeformConv": _conv(1),
    "ConvTranspose": _conv_transpose,
    "LSTM": _recurrent(2),
    "GRU": _recurrent(2),
    "RNN": _recurrent(2),
    "DynamicQuantizeLSTM": _recurrent(2),
    "Einsum": _einsum,
    "MultiHeadAttention": _attention_products,
    "GroupQueryAttention": _attention_products,
    "Attention": _any_attention,
    **dict.fromkeys(_MATRIX_PRODUCTS, _matmul),
}
