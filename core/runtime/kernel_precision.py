"""Kernel precision: what sort of numbers a kernel really computes in, read from its operator and element types.

A file may ask for half floats and the runtime still compute in single ones, between casts that it inserted: what counts
is the optimized graph.
"""

from __future__ import annotations

from core.runtime.executed import ExecutedNode

#: Operators of the runtime whose arithmetic is in 8-bit integers, whatever they read and write.
_INTEGER = (
    "QLinear",
    "QGemm",
    "QAttention",
    "QEmbedLayerNormalization",
    "MatMulInteger",
    "ConvInteger",
    "DynamicQuantizeMatMul",
    "DynamicQuantizeLSTM",
)
_CONVERSIONS = frozenset({"Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
_FLOATS = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_BYTES = frozenset({"int8", "uint8"})


def kernel_precision(node: ExecutedNode) -> str | None:
    """What a kernel computes in ("fp32", "int8", ...); None where it works on indices or texts, or only converts."""
    if node.op_type.startswith(_INTEGER):
        return "int8"
    if node.op_type in _CONVERSIONS or not node.element_types:
        return None
    floats = [_FLOATS[name] for name in node.element_types if name in _FLOATS]
    first = node.element_types[0]
    if first in _BYTES and not floats:
        return "int8"
    return _FLOATS.get(first) or next(iter(floats), None)
