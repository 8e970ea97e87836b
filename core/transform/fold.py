"""Folding what scales each channel into the convolution before it.

BN(W x + b) = (W g) x + (b - m) g + beta,  g = gamma / sqrt(variance + epsilon), per output channel
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from core.graph.constants import constant_array
from core.transform.body import Body, channel_constant

Array = np.ndarray[Any, np.dtype[Any]]


def folded_weights(body: Body) -> tuple[Array, Array | None]:
    """Weight and bias (float32; None where there is none) of a body with its foldable nodes worked in."""
    weight = _stored(body.anchor.inputs[1])
    has_bias = len(body.anchor.inputs) > 2 and body.anchor.inputs[2] is not None
    bias = _stored(body.anchor.inputs[2]).reshape(-1) if has_bias else None
    data = body.anchor.outputs[0]
    for node in body.foldable:
        factor, offset = _affine(node, data, weight.shape)
        weight = weight * factor.reshape([-1] + [1] * (weight.ndim - 1))
        bias = (0.0 if bias is None else bias * factor) + offset
        data = node.outputs[0]
    return weight.astype(np.float32), None if bias is None else bias.astype(np.float32)


def unlink_folded(body: Body) -> ir.Value:
    """Takes the folded nodes out of the graph; returns the value that the body now gives.

    What read the last folded node reads the anchor's output; the name of a graph output survives.
    """
    output = body.output
    for node in body.foldable:
        last, data = node.outputs[0], body.anchor.outputs[0]
        if last.is_graph_output():
            data.name, last.name = last.name, f"{last.name}_unfolded"
        last.replace_all_uses_with(data, replace_graph_outputs=True)
        if output is last:
            output = data
        if node.graph is not None:
            node.graph.remove(node, safe=True)
    return output


def _affine(node: ir.Node, data: ir.Value, weight_shape: tuple[int, ...]) -> tuple[Array, Array]:
    """(factor, offset) per channel of one foldable node, float64 [channels]."""
    channels = weight_shape[0]
    if node.op_type == "Mul":
        return channel_constant(node, data, weight_shape).astype(np.float64), np.zeros(channels)
    if node.op_type == "Add":
        return np.ones(channels), channel_constant(node, data, weight_shape).astype(np.float64)
    if node.op_type == "Sub":
        return np.ones(channels), -channel_constant(node, data, weight_shape).astype(np.float64)
    gamma, beta, mean, variance = (_stored(value).astype(np.float64) for value in node.inputs[1:5])
    attribute = node.attributes.get("epsilon")
    epsilon = 1e-5 if attribute is None else attribute.as_float()
    factor = gamma / np.sqrt(variance + epsilon)
    return factor, beta - mean * factor


def _stored(value: ir.Value | None) -> Array:
    array = constant_array(value)
    if array is None:
        raise ValueError("a constant was expected")
    return array
