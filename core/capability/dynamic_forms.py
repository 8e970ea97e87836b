"""Dynamic forms: activations are rounded to u8 by the range that they have in each run, weights are stored in s8.

Products and LSTMs have integer kernels for it. Everything else is written as rounding around the float operator.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from core.capability.building import MICROSOFT, GraphBuilder
from core.capability.drawn import random_activation, random_weight, unrounded
from core.capability.operators import Activation, OneOperator, Weight
from core.capability.rounding import Rounding
from core.transform.affine import quantize_weight

_INTEGER_PRODUCT = {"MatMul": "MatMulInteger", "Gemm": "MatMulInteger", "Conv": "ConvInteger"}
_FP32 = np.dtype(np.float32)


def dynamic_form(operator: OneOperator, limit: int, graph: GraphBuilder) -> ir.Model:
    """The operator with dynamically rounded activations; `limit` is the largest code of a weight."""
    if operator.op_type in _INTEGER_PRODUCT:
        result = _product(operator, limit, graph)
    elif operator.op_type == "LSTM":
        result = _lstm(operator, limit, graph)
    else:
        result = _around(operator, limit, graph)
    return graph.finish(result, ir.DataType.FLOAT)


def _product(operator: OneOperator, limit: int, graph: GraphBuilder) -> ir.Value:
    """Integer product, then the sums times both scales."""
    codes: list[ir.Value] = []
    scales: list[ir.Value] = []
    zeros: list[ir.Value] = []
    for seed, operand in enumerate(operator.operands):
        if isinstance(operand, Weight):
            found = quantize_weight(random_weight(operand, seed), axis=None, limit=limit)
            codes.append(graph.store(found.codes))
            scales.append(graph.store(found.scale))
            zeros.append(graph.store(np.int8(0)))
        elif isinstance(operand, Activation):
            given = graph.give(random_activation(operand.shape, seed))
            code, scale, zero = graph.node("DynamicQuantizeLinear", [given], outputs=3)
            codes.append(code)
            scales.append(scale)
            zeros.append(zero)
    attributes = operator.attributes if operator.op_type == "Conv" else {}
    (sums,) = graph.node(_INTEGER_PRODUCT[operator.op_type], [*codes, *zeros], attributes)
    (floats,) = graph.node("Cast", [sums], {"to": int(ir.DataType.FLOAT)})
    (scale,) = graph.node("Mul", scales)
    return graph.node("Mul", [floats, scale])[0]


def _lstm(operator: OneOperator, limit: int, graph: GraphBuilder) -> ir.Value:
    """The runtime's own operator; it wants weights as inputs x gates."""
    reads: list[ir.Value | None] = []
    scales: list[ir.Value] = []
    for seed, operand in enumerate(operator.operands):
        if isinstance(operand, Weight):
            found = quantize_weight(random_weight(operand, seed), axis=None, limit=limit)
            reads.append(graph.store(np.ascontiguousarray(found.codes.transpose(0, 2, 1))))
            scales += [graph.store(found.scale.reshape(1)), graph.store(np.zeros(1, np.int8))]
        else:
            reads.append(unrounded(graph, operand, _FP32, seed))
    return graph.node("DynamicQuantizeLSTM", [*reads, *[None] * 5, *scales], operator.attributes, domain=MICROSOFT)[0]


def _around(operator: OneOperator, limit: int, graph: GraphBuilder) -> ir.Value:
    rounding, reads = Rounding(graph, limit), list[ir.Value | None]()
    for seed, operand in enumerate(operator.operands):
        if isinstance(operand, Activation):
            given = graph.give(random_activation(operand.shape, seed))
            rounded = graph.node("DynamicQuantizeLinear", [given], outputs=3)
            reads.append(graph.node("DequantizeLinear", rounded)[0])
        elif isinstance(operand, Weight) and operand.lowered:
            reads.append(rounding.weight(random_weight(operand, seed), operand.axis))
        else:
            reads.append(unrounded(graph, operand, _FP32, seed))
    return graph.node(operator.op_type, reads, operator.attributes)[0]
