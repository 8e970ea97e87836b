"""One-operator models: the same operator once in float32 and once on 8-bit integers through Q/DQ.

The int8 form takes u8 in and gives u8 out (MatMul and Gemm give floats too), so that its time is the kernel's alone,
without the conversions at the borders of a region.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx_ir as ir

from core.transform.affine import REDUCED_WEIGHT_LIMIT, WEIGHT_LIMIT, quantize_weight

_OPSET = 17
_SCALE = 1 / 128
_ZERO_POINT = 128


@dataclass(frozen=True, slots=True)
class OneOperator:
    """An operator with the shapes it is tried at; `weight` is the shape of its stored weight, if it has one.

    `channel_axis` is the weight's axis of output channels. `inputs` are activation shapes.
    """

    op_type: str
    signature: str
    inputs: tuple[tuple[int, ...], ...]
    weight: tuple[int, ...] | None = None
    channel_axis: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    constants: tuple[tuple[int, ...], ...] = ()
    float_output: bool = False


_HALVING = {"kernel_shape": [2, 2], "strides": [2, 2]}

OPERATORS: tuple[OneOperator, ...] = (
    OneOperator("Conv", "3x3, 64 to 64 channels, 28x28", ((1, 64, 28, 28),), (64, 64, 3, 3), 0, {"pads": [1, 1, 1, 1]}),
    OneOperator("Conv", "1x1, 128 to 128 channels, 28x28", ((1, 128, 28, 28),), (128, 128, 1, 1)),
    OneOperator(
        "Conv", "depthwise 3x3, 128 channels, 28x28", ((1, 128, 28, 28),), (128, 1, 3, 3), 0,
        {"pads": [1, 1, 1, 1], "group": 128},
    ),
    OneOperator("Conv", "1-D, 5 wide, 128 to 128 channels, 256 steps", ((1, 128, 256),), (128, 128, 5), 0,
                {"pads": [2, 2]}),
    OneOperator("Gemm", "1x512 by 512x512", ((1, 512),), (512, 512), 1, float_output=True),
    OneOperator("MatMul", "1x128x384 by 384x384", ((1, 128, 384),), (384, 384), 1, float_output=True),
    OneOperator("Add", "64x28x28 both sides", ((1, 64, 28, 28), (1, 64, 28, 28))),
    OneOperator("Mul", "64x28x28 both sides", ((1, 64, 28, 28), (1, 64, 28, 28))),
    OneOperator("Concat", "two of 64x28x28", ((1, 64, 28, 28), (1, 64, 28, 28)), attributes={"axis": 1}),
    OneOperator("MaxPool", "2x2, 64x28x28", ((1, 64, 28, 28),), attributes=_HALVING),
    OneOperator("AveragePool", "2x2, 64x28x28", ((1, 64, 28, 28),), attributes=_HALVING),
    OneOperator("GlobalAveragePool", "128x14x14", ((1, 128, 14, 14),)),
    OneOperator("Sigmoid", "64x28x28", ((1, 64, 28, 28),)),
    OneOperator("LeakyRelu", "64x28x28", ((1, 64, 28, 28),)),
    OneOperator("Transpose", "64x28x28", ((1, 64, 28, 28),), attributes={"perm": [0, 2, 3, 1]}),
)  # fmt: skip


def float_model(operator: OneOperator) -> ir.Model:
    """The operator in float32."""
    inputs = [_input(f"x{i}", ir.DataType.FLOAT, shape) for i, shape in enumerate(operator.inputs)]
    weights = [] if operator.weight is None else [_constant("w", _weight(operator))]
    node = _operator(operator, [*inputs, *weights])
    return _model(inputs, [node], weights)


def int8_model(operator: OneOperator, *, saturates: bool) -> ir.Model:
    """The operator on u8 activations and s8 weights."""
    scale, zero = _constant("scale", np.float32(_SCALE)), _constant("zero", np.uint8(_ZERO_POINT))
    stored, nodes, reads = [scale, zero], [], []
    inputs = [_input(f"x{i}", ir.DataType.UINT8, shape) for i, shape in enumerate(operator.inputs)]
    for value in inputs:
        nodes.append(_dequantize(value, scale, zero))
        reads.append(nodes[-1].outputs[0])
    if operator.weight is not None:
        limit = REDUCED_WEIGHT_LIMIT if saturates else WEIGHT_LIMIT
        code = quantize_weight(_weight(operator), axis=operator.channel_axis, limit=limit)
        parts = [
            _constant("w_int", code.codes),
            _constant("w_scale", code.scale),
            _constant("w_zero", np.zeros(code.scale.shape, np.int8)),
        ]
        stored += parts
        nodes.append(_dequantize(parts[0], parts[1], parts[2], axis=operator.channel_axis))
        reads.append(nodes[-1].outputs[0])
    nodes.append(_operator(operator, reads))
    if not operator.float_output:
        out_scale = scale if operator.weight is None else _constant("y_scale", np.float32(0.25))
        stored += [] if out_scale is scale else [out_scale]
        nodes.append(ir.node("QuantizeLinear", [nodes[-1].outputs[0], out_scale, zero], name="round"))
    return _model(inputs, nodes, stored)


def feed(operator: OneOperator, dtype: str, seed: int) -> dict[str, np.ndarray[Any, np.dtype[Any]]]:
    """Seeded inputs for either form; dtype "float32" or "uint8"."""
    generator = np.random.default_rng(seed)
    codes = [generator.integers(0, 256, size=shape, dtype=np.uint8) for shape in operator.inputs]
    if dtype == "uint8":
        return {f"x{i}": array for i, array in enumerate(codes)}
    return {f"x{i}": ((array.astype(np.float32) - _ZERO_POINT) * _SCALE) for i, array in enumerate(codes)}


def _weight(operator: OneOperator) -> np.ndarray[Any, np.dtype[Any]]:
    if operator.weight is None:
        raise ValueError(f"{operator.op_type} has no weight")
    return np.random.default_rng(7).normal(0, 0.1, operator.weight).astype(np.float32)


def _operator(operator: OneOperator, reads: Sequence[ir.Value]) -> ir.Node:
    node = ir.node(operator.op_type, list(reads), dict(operator.attributes), name="operator")
    node.outputs[0].name = "operator_out"
    return node


def _dequantize(value: ir.Value, scale: ir.Value, zero: ir.Value, axis: int | None = None) -> ir.Node:
    attributes = {} if axis is None else {"axis": axis}
    node = ir.node("DequantizeLinear", [value, scale, zero], attributes, name=f"dequantize_{value.name}")
    node.outputs[0].name = f"{value.name}_float"
    return node


def _input(name: str, dtype: ir.DataType, shape: Sequence[int]) -> ir.Value:
    return ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))


def _constant(name: str, array: Any) -> ir.Value:
    stored = np.asarray(array)
    tensor = ir.tensor(stored, name=name)
    return ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(stored.shape), const_value=tensor)


def _model(inputs: Sequence[ir.Value], nodes: Sequence[ir.Node], stored: Sequence[ir.Value]) -> ir.Model:
    last = nodes[-1].outputs[0]
    last.name = "y"
    last.shape = ir.Shape([None] * len(inputs[0].shape or ()))
    last.type = ir.TensorType(ir.DataType.UINT8 if nodes[-1].op_type == "QuantizeLinear" else ir.DataType.FLOAT)
    graph = ir.Graph(inputs, [last], nodes=nodes, initializers=stored, opset_imports={"": _OPSET}, name="one_operator")
    return ir.Model(graph, ir_version=9)
