"""Stored forms: only the weights are in 8 or 4 bits, the activations stay floats.

Products and tables have kernels that unpack blocks of 32 weights while they work. Everything else reads its weights
through DequantizeLinear, which writes them out as floats before the kernel runs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np
import onnx_ir as ir

from core.capability.building import MICROSOFT, GraphBuilder
from core.capability.drawn import random_weight, unrounded
from core.capability.operators import Array, OneOperator, Weight
from core.capability.rounding import Rounding
from core.transform.affine import WEIGHT_LIMIT

_BLOCK = 32
_FP32 = np.dtype(np.float32)
#: `accuracy_level` of MatMulNBits -> what it does with the activations.
_ACCURACY = {4: "activations rounded to 8 bits inside the kernel", 1: "activations kept in fp32"}

Build = Callable[[GraphBuilder], ir.Model]


def stored_forms(operator: OneOperator, bits: int) -> tuple[tuple[str, Build], ...]:
    """Pairs of a note and what builds the form; `bits` is 8 or 4."""
    if operator.op_type in ("MatMul", "Gemm"):
        return tuple((note, partial(_product, operator, bits, level)) for level, note in _ACCURACY.items())
    if operator.op_type == "Gather":
        return (("", partial(_table, operator, bits)),)
    return (("", partial(_unpacked, operator, bits)),)


def _product(operator: OneOperator, bits: int, accuracy_level: int, graph: GraphBuilder) -> ir.Model:
    given, weight = operator.operands
    assert isinstance(weight, Weight)
    depth, width = weight.shape
    codes, scales = _blocks(random_weight(weight, 1).T, bits)
    attributes = {"K": depth, "N": width, "bits": bits, "block_size": _BLOCK, "accuracy_level": accuracy_level}
    packed = codes if bits == 8 else codes[..., ::2] | (codes[..., 1::2] << 4)
    reads = [unrounded(graph, given, _FP32), graph.store(packed), graph.store(scales.reshape(-1))]
    (result,) = graph.node("MatMulNBits", reads, attributes, domain=MICROSOFT)
    return graph.finish(result, ir.DataType.FLOAT)


def _table(operator: OneOperator, bits: int, graph: GraphBuilder) -> ir.Model:
    weight, ids = operator.operands
    assert isinstance(weight, Weight)
    codes, scales = _blocks(random_weight(weight, 0), bits)
    dtype = np.dtype(np.uint8) if bits == 8 else np.dtype(ml_dtypes.uint4)
    reads = [
        graph.store(codes.reshape(weight.shape).astype(dtype)),
        unrounded(graph, ids, _FP32, 1),
        graph.store(scales),
        graph.store(np.full(scales.shape, 2 ** (bits - 1)).astype(dtype)),
    ]
    attributes = {"gather_axis": 0, "quantize_axis": 1, "block_size": _BLOCK, "bits": bits}
    (result,) = graph.node("GatherBlockQuantized", reads, attributes, domain=MICROSOFT)
    return graph.finish(result, ir.DataType.FLOAT)


def _unpacked(operator: OneOperator, bits: int, graph: GraphBuilder) -> ir.Model:
    rounding = Rounding(graph, WEIGHT_LIMIT)
    reads = [
        rounding.weight(random_weight(operand, seed), operand.axis, bits=bits)
        if isinstance(operand, Weight) and operand.lowered
        else unrounded(graph, operand, _FP32, seed)
        for seed, operand in enumerate(operator.operands)
    ]
    (result,) = graph.node(operator.op_type, reads, operator.attributes)
    return graph.finish(result, ir.DataType.FLOAT)


def _blocks(rows: Array, bits: int) -> tuple[Array, Array]:
    """Unsigned codes around 2**(bits - 1) in blocks of 32 along each row, and a scale per block.

    Shapes: rows [n, k] gives codes [n, k / 32, 32] and scales [n, k / 32].
    """
    blocks = rows.reshape(rows.shape[0], -1, _BLOCK)
    largest = 2 ** (bits - 1) - 1
    scales = np.maximum(np.abs(blocks).max(axis=2), 1e-12) / largest
    codes = np.clip(np.rint(blocks / scales[..., None]), -largest, largest) + 2 ** (bits - 1)
    return codes.astype(np.uint8), scales.astype(np.float32)
