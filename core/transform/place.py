"""Placing Q/DQ: every int8 body reads u8 activations and s8 weights through DequantizeLinear, and the runtime fuses it.

One pair per value and graph. A body that exists only with an int8 output (Conv, Add, pooling) hands its rounded output
to all who read it; a MatMul or Gemm gives floats to fp32 readers and int8 to int8 readers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from core.graph.constants import constant_array
from core.recipe.plan import Decision
from core.transform.affine import (
    REDUCED_WEIGHT_LIMIT,
    WEIGHT_LIMIT,
    ActivationCode,
    Array,
    Range,
    WeightCode,
    activation_code,
    bias_floor,
    quantize_bias,
    quantize_weight,
)
from core.transform.body import Body
from core.transform.fold import folded_weights, unlink_folded
from core.transform.values import BUCKET, GROUP

QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"


@dataclass(frozen=True, slots=True)
class Placed:
    """What was placed: group ids in int8, and group id -> reason for those that could not be."""

    groups: frozenset[str]
    refused: Mapping[str, str]


def place_int8(
    bodies: list[Body],
    decisions: Mapping[str, Decision],
    ranges: Mapping[int, Range],
    *,
    saturates: bool,
) -> Placed:
    """Rewrites the graph in place so that these bodies compute in int8.

    Args:
        bodies: in graph order, all of one model.
        decisions: group id -> decision (for its options).
        ranges: `id(value)` -> range, for what the bodies read and write.
        saturates: whether this CPU's u8 x s8 multiply saturates with 8-bit weights.
    """
    kept, refused = _keep_fed(bodies, ranges)
    placer = _Placer(ranges)
    for body in kept:
        placer.fold_and_round(body)
    for body in kept:
        placer.quantize_inputs(body)
        if body.weighted:
            placer.quantize_weights(body, decisions[body.group].options, saturates=saturates)
    return Placed(frozenset(body.group for body in kept), refused)


def _keep_fed(bodies: list[Body], ranges: Mapping[int, Range]) -> tuple[list[Body], dict[str, str]]:
    """Drops bodies without a usable range, and followers whose feeders were dropped."""
    kept: list[Body] = []
    refused: dict[str, str] = {}
    int8_values: set[int] = set()
    for body in bodies:
        reason = _range_refusal(body, ranges)
        fed = all(id(node.inputs[number]) in int8_values for node, number in body.data_inputs)
        if reason is None and not body.weighted and not fed:
            reason = "what feeds it stays in fp32: int8 would only add conversions"
        if reason is not None:
            refused[body.group] = reason
            continue
        kept.append(body)
        int8_values.add(id(body.output))
    return kept, refused


def _range_refusal(body: Body, ranges: Mapping[int, Range]) -> str | None:
    values = [node.inputs[number] for node, number in body.data_inputs]
    if body.rounded:
        values.append(body.output)
    for value in values:
        seen = None if value is None else ranges.get(id(value))
        if seen is None:
            return "no range was found for it: the calibration data never reached this branch"
        if not seen.is_usable():
            return "calibration saw NaN or infinity here"
    return None


class _Placer:
    """Holds what is already placed while one model is rewritten."""

    def __init__(self, ranges: Mapping[int, Range]) -> None:
        self._ranges = ranges
        self._codes: dict[int, ActivationCode] = {}
        self._pairs: dict[tuple[int, int], ir.Value] = {}
        self._stored: dict[tuple[int, str, tuple[int, ...], bytes], ir.Value] = {}
        self._count = 0

    def fold_and_round(self, body: Body) -> None:
        """Works batch norms into the weights, then rounds the output where the kernel needs it."""
        if body.weighted and body.foldable:
            weight, bias = folded_weights(body)
            output = unlink_folded(body)
            # the range is that of what the folded nodes gave, which the anchor now gives itself
            self._codes[id(output)] = activation_code(self._ranges[id(body.output)])
            self._round(body, output)
            self._store_float(body.anchor, weight, bias)
        elif body.rounded:
            self._round(body, body.output)

    def _store_float(self, anchor: ir.Node, weight: Array, bias: Array | None) -> None:
        anchor.replace_input_with(1, self._initializer(anchor, "weight", weight))
        if bias is not None:
            anchor.resize_inputs(3)
            anchor.replace_input_with(2, self._initializer(anchor, "bias", bias))

    def _round(self, body: Body, output: ir.Value) -> None:
        node, number = body.data_inputs[0]
        source = node.inputs[number]
        code = self._code(source) if body.keeps_scale and source is not None else self._code(output)
        owner = output.producer()
        if owner is None or owner.graph is None:
            raise ValueError(f"the output of group '{body.group}' has no producer")
        readers = list(output.uses())
        quantize, dequantize = self._pair(output, code, body.group)
        owner.append((quantize, dequantize))
        rounded = dequantize.outputs[0]
        if output.is_graph_output():
            output.name, rounded.name = f"{output.name}_float", output.name
        for reader, position in readers:
            reader.replace_input_with(position, rounded)
        _replace_graph_output(owner.graph, output, rounded)
        self._codes[id(rounded)] = code

    def quantize_inputs(self, body: Body) -> None:
        """Makes each data input of a body read int8."""
        for node, number in body.data_inputs:
            value = node.inputs[number]
            if value is not None and not self._is_rounded_here(value, node):
                node.replace_input_with(number, self._quantized(value, node, body.group))

    def _is_rounded_here(self, value: ir.Value, reader: ir.Node) -> bool:
        """Whether the value is a dequantized one of the reader's own graph; across graphs the runtime cannot fuse."""
        producer = value.producer()
        dequantized = producer is not None and producer.op_type == DEQUANTIZE and producer.graph is reader.graph
        return dequantized and id(value) in self._codes

    def _quantized(self, value: ir.Value, reader: ir.Node, group: str) -> ir.Value:
        key = (id(value), id(reader.graph))
        if key not in self._pairs:
            quantize, dequantize = self._pair(value, self._code(value), group)
            producer = value.producer()
            if producer is not None and producer.graph is reader.graph:
                producer.append((quantize, dequantize))
            elif isinstance(reader.graph, ir.Graph):
                reader.graph.insert_before(reader.graph[0], (quantize, dequantize))
            self._pairs[key] = dequantize.outputs[0]
        return self._pairs[key]

    def quantize_weights(self, body: Body, options: Mapping[str, Any], *, saturates: bool) -> None:
        """Replaces weight and bias by stored integers behind DequantizeLinear."""
        anchor = body.anchor
        weight, bias = folded_weights(_without_folding(body))
        axis = None if options.get("granularity") == "tensor" else _channel_axis(anchor)
        source = anchor.inputs[0]
        if source is None:
            raise ValueError(f"'{anchor.name}' reads nothing")
        input_scale = self._codes[id(source)].scale
        floor = None if bias is None else bias_floor(bias, input_scale)
        code = quantize_weight(weight, axis=axis, limit=_limit(anchor, weight, options, saturates), floor=floor)
        anchor.replace_input_with(1, self._dequantized(body, "weight", code.codes, code.scale, axis=axis))
        if bias is not None:
            codes, scale = quantize_bias(bias, input_scale, code.scale)
            bias_axis = None if axis is None else 0
            anchor.replace_input_with(2, self._dequantized(body, "bias", codes, scale, axis=bias_axis))
        elif body.bias_add is not None:
            self._quantize_added_bias(body, body.bias_add, input_scale, code)

    def _quantize_added_bias(self, body: Body, add: ir.Node, input_scale: np.float32, code: WeightCode) -> None:
        """Stores the bias that an Add behind a MatMul brings as int32, where it holds one number per column."""
        number = next(i for i, value in enumerate(add.inputs) if value is not body.anchor.outputs[0])
        bias = constant_array(add.inputs[number])
        if bias is None or bias.dtype != np.float32 or bias.ndim == 0 or bias.size != code.codes.shape[-1]:
            return
        if np.any(bias_floor(bias.reshape(-1), input_scale) > code.scale):
            return
        codes, scale = quantize_bias(bias, input_scale, code.scale)
        axis = None if code.axis is None else bias.ndim - 1
        add.replace_input_with(number, self._dequantized(body, "bias", codes, scale, axis=axis))

    def _code(self, value: ir.Value) -> ActivationCode:
        if id(value) not in self._codes:
            self._codes[id(value)] = activation_code(self._ranges[id(value)])
        return self._codes[id(value)]

    def _pair(self, value: ir.Value, code: ActivationCode, group: str) -> tuple[ir.Node, ir.Node]:
        producer = value.producer()
        holder = producer.graph if producer is not None else value.graph
        self._count += 1
        name = f"{value.name}_int8_{self._count}"
        parameters = _parameters(name, code)
        quantize = _node(QUANTIZE, [value, *parameters], f"{name}_quantize", group)
        quantize.outputs[0].type = ir.TensorType(ir.DataType.UINT8)
        dequantize = _node(DEQUANTIZE, [quantize.outputs[0], *parameters], f"{name}_dequantize", group)
        dequantize.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
        for made in (quantize, dequantize):
            made.outputs[0].shape = value.shape
        self._codes[id(dequantize.outputs[0])] = code
        _register(parameters, holder)
        return quantize, dequantize

    def _dequantized(self, body: Body, what: str, codes: Array, scale: Array, *, axis: int | None) -> ir.Value:
        anchor = body.anchor
        stored = self._stored_once(anchor, f"{what}_int", codes)
        scales = self._initializer(anchor, f"{what}_scale", scale)
        zero = self._initializer(anchor, f"{what}_zero", np.zeros(scale.shape, dtype=codes.dtype))
        node = _node(DEQUANTIZE, [stored, scales, zero], f"{scales.name}_dequantize", body.group)
        if axis is not None:
            node.attributes["axis"] = ir.AttrInt64("axis", axis)
        node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
        node.outputs[0].shape = ir.Shape(codes.shape)
        anchor.prepend(node)
        return node.outputs[0]

    def _stored_once(self, anchor: ir.Node, what: str, codes: Array) -> ir.Value:
        """Layers that share a weight share its integers as well: else a cell unrolled over time would grow the file."""
        content = hashlib.sha256(codes.tobytes()).digest()
        key = (id(anchor.graph), codes.dtype.str, codes.shape, content)
        if key not in self._stored:
            self._stored[key] = self._initializer(anchor, what, codes)
        return self._stored[key]

    def _initializer(self, anchor: ir.Node, what: str, array: Array) -> ir.Value:
        self._count += 1
        value = _constant(f"{anchor.name}_{what}_{self._count}", array)
        _register((value,), anchor.graph)
        return value


def _without_folding(body: Body) -> Body:
    return Body(body.group, body.anchor, body.data_inputs, body.output, body.rounded, body.layers, weighted=True)


def _limit(anchor: ir.Node, weight: Array, options: Mapping[str, Any], saturates: bool) -> int:
    reduced = options.get("reduced_range")
    if reduced is None:
        reduced = saturates and not is_depthwise(anchor, weight)
    return REDUCED_WEIGHT_LIMIT if reduced else WEIGHT_LIMIT


def is_depthwise(anchor: ir.Node, weight: Array) -> bool:
    """A 2-D convolution of one channel each: its integer kernel sums in 32 bits and cannot saturate."""
    group = anchor.attributes.get("group")
    return (
        anchor.op_type == "Conv"
        and weight.ndim == 4
        and weight.shape[1] == 1
        and (group is not None and group.as_int() == weight.shape[0] and weight.shape[0] > 1)
    )


def _channel_axis(anchor: ir.Node) -> int:
    """The axis of the weight that runs over output channels."""
    if anchor.op_type == "Conv":
        return 0
    transposed = anchor.attributes.get("transB")
    return 0 if anchor.op_type == "Gemm" and transposed is not None and transposed.as_int() else 1


def _node(op_type: str, inputs: list[ir.Value], name: str, group: str) -> ir.Node:
    node = ir.node(op_type, inputs, name=name, metadata_props={BUCKET: "quantize", GROUP: group})
    node.outputs[0].name = f"{name}_out"
    return node


def _parameters(name: str, code: ActivationCode) -> tuple[ir.Value, ir.Value]:
    scale = _constant(f"{name}_scale", np.array(code.scale, dtype=np.float32))
    return scale, _constant(f"{name}_zero_point", np.array(code.zero_point, dtype=np.uint8))


def _constant(name: str, array: Array) -> ir.Value:
    tensor = ir.tensor(array, name=name)
    return ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(array.shape), const_value=tensor)


def _register(values: tuple[ir.Value, ...], graph: Any) -> None:
    if not isinstance(graph, ir.Graph):
        raise TypeError("int8 is placed into graphs, not into functions")
    for value in values:
        graph.register_initializer(value)


def _replace_graph_output(graph: Any, old: ir.Value, new: ir.Value) -> None:
    for position, output in enumerate(graph.outputs):
        if output is old:
            graph.outputs[position] = new
