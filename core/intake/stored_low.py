"""Precision that a file already has: quantized operators, small integers widened by arithmetic, half-precision weights.

Only what is stored in the model is looked at; nothing is computed. A table of token ids or labels is no weight: what
counts is an integer tensor that is widened to floating point and scaled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import onnx_ir as ir

from core.intake.model import Finding
from core.intake.scopes import walk_scopes

_QUANTIZED = frozenset({
    "QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul", "QGemm", "ConvInteger", "MatMulInteger",
    "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "MatMulNBits", "MatMulIntegerToFloat",
})  # fmt: skip
_SMALL = frozenset({ir.DataType.INT8, ir.DataType.UINT8, ir.DataType.INT4, ir.DataType.UINT4})
_HALF = frozenset({ir.DataType.FLOAT16, ir.DataType.BFLOAT16})
#: Fewer numbers than this are a constant of some formula, no weight.
_FEWEST = 16


def stored_low(model: ir.Model) -> Iterator[Finding]:
    """Yields a note for each way in which the model is in low precision already."""
    nodes = [node for _, node in walk_scopes(model.graph)]
    found = Counter(node.op_type for node in nodes if node.op_type in _QUANTIZED)
    if found:
        kinds = ", ".join(f"{count} {op_type}" for op_type, count in found.most_common(3))
        hint = "Start from the float model to choose precisions."
        yield Finding("note", f"The model is quantized already ({kinds}).", hint)
    widened = Counter(str(tensor.dtype).lower() for tensor in map(_widened, nodes) if tensor is not None)
    for kind, count in widened.most_common():
        yield Finding(
            "note",
            f"The model is quantized already: {_weights(count)} stored as {kind} and widened by Cast and Mul.",
            "Its file is small, but the runtime computes these layers in floating point. Lower them here to run them"
            " in int8; the original's answers already carry the rounding of its weights.",
        )
    half = {id(tensor): tensor for node in nodes for tensor in map(_stored, node.inputs) if _is_half(tensor)}
    for kind, count in Counter(str(tensor.dtype).lower() for tensor in half.values() if tensor is not None).items():
        yield Finding("note", f"{_weights(count).capitalize()} stored as {kind}.", None)


def _weights(count: int) -> str:
    return "one weight is" if count == 1 else f"{count} weights are"


def _widened(node: ir.Node) -> ir.TensorProtocol | None:
    """The small integers that this node turns into floating point to be scaled, or None."""
    if node.op_type != "Cast" or node.domain != "":
        return None
    tensor = _stored(node.inputs[0])
    if tensor is None or tensor.dtype not in _SMALL or tensor.size < _FEWEST:
        return None
    scaled = any(use.node.op_type in ("Mul", "Sub") for use in node.outputs[0].uses())
    return tensor if scaled else None


def _is_half(tensor: ir.TensorProtocol | None) -> bool:
    return tensor is not None and tensor.dtype in _HALF and tensor.size >= _FEWEST


def _stored(value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor that the file itself stores for a value, as initializer or `Constant`."""
    if value is None:
        return None
    producer = value.producer()
    if producer is None:
        return value.const_value
    if producer.op_type != "Constant" or "value" not in producer.attributes:
        return None
    return producer.attributes["value"].as_tensor()
