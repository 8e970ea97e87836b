"""Int8 bodies: the part of a group that becomes one integer kernel, read from the graph, or why there is none.

A Conv body reaches from the Conv through the batch norm that is folded into it to the Relu or Clip that vanishes into
the rounding of its output; what the group holds beyond (a Sigmoid, a Gelu) reads the dequantized result in fp32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from core.graph.constants import constant_array, is_constant_value
from core.graph.layer import Group, LayerTable
from core.recipe.resolve import ABSORBED, RESCALING, SCALE_KEEPING


@dataclass(frozen=True, slots=True)
class Body:
    """The nodes of one integer kernel in one copy of the model.

    `data_inputs` are (node, input number) that must read int8. `output` is the value the kernel gives. `rounded`: the
    kernel exists only with an int8 output (Conv, Add, pooling); otherwise (MatMul, Gemm) it also gives floats.
    `keeps_scale`: the output has the codes of the input. `foldable` are batch norms and per-channel scalings to fold
    into the weights, in order. `layers` are the ids of the layers inside. `bias_add` is the Add of a stored bias behind
    a MatMul: left in float32 it would be drawn into a float Gemm before the integer kernel can form.
    """

    group: str
    anchor: ir.Node
    data_inputs: tuple[tuple[ir.Node, int], ...]
    output: ir.Value
    rounded: bool
    layers: tuple[str, ...]
    keeps_scale: bool = False
    weighted: bool = False
    foldable: tuple[ir.Node, ...] = field(default=())
    bias_add: ir.Node | None = None


def find_body(group: Group, table: LayerTable, nodes: Mapping[str, ir.Node]) -> Body | str:
    """The int8 body of a group, or why the file cannot hold one."""
    anchor = nodes.get(group.anchor)
    if anchor is None or anchor.domain not in ("", "ai.onnx"):
        return "an operator of another domain has no int8 form here"
    members = [(layer_id, nodes[layer_id]) for layer_id in group.layers if layer_id in nodes]
    refusal = _not_float(anchor, table.layer(group.anchor).dtype)
    if refusal is not None:
        return refusal
    match anchor.op_type:
        case "Conv":
            return _conv(group, anchor, members)
        case "Gemm":
            return _gemm(group, anchor, members)
        case "MatMul":
            return _matmul(group, anchor, members)
        case op_type if op_type in SCALE_KEEPING | RESCALING | ABSORBED:
            return _follower(group, anchor, members)
        case op_type:
            return f"{op_type} has no static int8 kernel in this runtime"


def _not_float(anchor: ir.Node, dtype: str) -> str | None:
    value = anchor.inputs[0] if anchor.inputs else None
    if value is None:
        return "it reads nothing"
    if dtype != "float32":
        return f"it computes in {dtype or 'an element type that the file does not tell'}; int8 starts from float32"
    if is_constant_value(value) and anchor.op_type not in ("Add", "Mul", "Concat"):
        return "it reads a stored constant where int8 needs an activation"
    return None


def _weight_refusal(anchor: ir.Node, ranks: tuple[int, ...]) -> str | None:
    weight = constant_array(anchor.inputs[1]) if len(anchor.inputs) > 1 else None
    if weight is None:
        return "both sides are activations; int8 with two activations is not placed by this version"
    if weight.dtype != np.float32:
        return f"its weight is stored as {weight.dtype}; int8 starts from float32"
    if weight.ndim not in ranks:
        return f"a weight with {weight.ndim} dimensions has no int8 kernel here"
    if not np.isfinite(weight).all():
        return "its weight holds NaN or infinity"
    return None


def _bias_refusal(anchor: ir.Node) -> str | None:
    if len(anchor.inputs) < 3 or anchor.inputs[2] is None:
        return None
    return None if is_constant_value(anchor.inputs[2]) else "its bias is computed at run time"


def _conv(group: Group, anchor: ir.Node, members: list[tuple[str, ir.Node]]) -> Body | str:
    refusal = _weight_refusal(anchor, (3, 4, 5)) or _bias_refusal(anchor)
    if refusal is not None:
        return refusal
    shape = _weight_shape(anchor)
    layers, foldable, output = [group.anchor], [], anchor.outputs[0]
    for layer_id, node in _chain(anchor, members):
        if _is_foldable(node, output, shape):
            foldable.append(node)
        elif not _is_absorbed(node):
            break
        layers.append(layer_id)
        output = node.outputs[0]
        if _is_absorbed(node):
            break
    return Body(
        group=group.id,
        anchor=anchor,
        data_inputs=((anchor, 0),),
        output=output,
        rounded=True,
        layers=tuple(layers),
        weighted=True,
        foldable=tuple(foldable),
    )


def _gemm(group: Group, anchor: ir.Node, members: list[tuple[str, ir.Node]]) -> Body | str:
    refusal = _weight_refusal(anchor, (2,)) or _bias_refusal(anchor)
    if refusal is not None:
        return refusal
    if _float(anchor, "alpha", 1.0) != 1.0 or (_float(anchor, "beta", 1.0) != 1.0 and len(anchor.inputs) > 2):
        return "a Gemm that scales its product (alpha, beta) has no int8 kernel"
    if anchor.attributes.get("transA") is not None and anchor.attributes["transA"].as_int() != 0:
        return "a Gemm with a transposed activation has no int8 kernel"
    return _with_float_output(group, anchor, members)


def _matmul(group: Group, anchor: ir.Node, members: list[tuple[str, ir.Node]]) -> Body | str:
    refusal = _weight_refusal(anchor, (2,))
    return refusal if refusal is not None else _with_float_output(group, anchor, members)


def _with_float_output(group: Group, anchor: ir.Node, members: list[tuple[str, ir.Node]]) -> Body:
    """A product that gives floats: what follows it in the group (bias, Relu, Gelu) computes on them in fp32."""
    output, bias_add = anchor.outputs[0], None
    for _, node in _chain(anchor, members):
        bias = node.op_type == "Add" and any(is_constant_value(value) for value in node.inputs)
        if not bias and not _is_absorbed(node):
            break
        if bias and output is anchor.outputs[0]:
            bias_add = node
        output = node.outputs[0]
    return Body(
        group=group.id,
        anchor=anchor,
        data_inputs=((anchor, 0),),
        output=output,
        rounded=False,
        layers=(group.anchor,),
        weighted=True,
        bias_add=bias_add,
    )


def _follower(group: Group, anchor: ir.Node, members: list[tuple[str, ir.Node]]) -> Body | str:
    if anchor.op_type == "Resize" and anchor.attributes.get("mode") is not None:
        mode = anchor.attributes["mode"].as_string()
        if mode != "nearest":
            return f"Resize in mode '{mode}' leaves the range of its input; no int8 form"
    several = anchor.op_type in ("Add", "Mul", "Concat")
    numbers = range(len(anchor.inputs)) if several else range(1)
    if several and any(is_constant_value(anchor.inputs[number]) for number in numbers):
        return f"this {anchor.op_type} reads a constant; its int8 form is not placed by this version"
    layers, output = [group.anchor], anchor.outputs[0]
    for layer_id, node in _chain(anchor, members):
        if not _is_absorbed(node):
            break
        layers.append(layer_id)
        output = node.outputs[0]
    return Body(
        group=group.id,
        anchor=anchor,
        data_inputs=tuple((anchor, number) for number in numbers),
        output=output,
        rounded=True,
        layers=tuple(layers),
        keeps_scale=anchor.op_type in SCALE_KEEPING and output is anchor.outputs[0],
    )


def _chain(anchor: ir.Node, members: list[tuple[str, ir.Node]]) -> list[tuple[str, ir.Node]]:
    """The group's layers behind the anchor, each the only reader of the one before."""
    ids = {id(node): layer_id for layer_id, node in members}
    found: list[tuple[str, ir.Node]] = []
    node = anchor
    while True:
        value = node.outputs[0]
        readers = [user for user, _ in value.uses()]
        if value.is_graph_output() or len(readers) != 1 or id(readers[0]) not in ids:
            return found
        node = readers[0]
        found.append((ids[id(node)], node))


def _is_absorbed(node: ir.Node) -> bool:
    """Relu, and Clip with bounds stored in the file and zero between them."""
    if node.op_type == "Relu":
        return True
    if node.op_type != "Clip":
        return False
    bounds = [constant_array(value) for value in node.inputs[1:] if value is not None]
    return all(bound is not None for bound in bounds)


def _is_foldable(node: ir.Node, data: ir.Value, weight_shape: tuple[int, ...]) -> bool:
    """A batch norm, or a Mul, Add or Sub with one constant per channel."""
    if node.op_type == "BatchNormalization":
        return len(node.outputs) == 1 and all(is_constant_value(value) for value in node.inputs[1:])
    if node.op_type not in ("Mul", "Add", "Sub") or (node.op_type == "Sub" and node.inputs[0] is not data):
        return False
    other = constant_array(next((value for value in node.inputs if value is not data), None))
    return other is not None and _per_channel(other, weight_shape) is not None


def _weight_shape(anchor: ir.Node) -> tuple[int, ...]:
    weight = constant_array(anchor.inputs[1])
    if weight is None:
        raise ValueError(f"'{anchor.name}' has no stored weight")
    return tuple(int(size) for size in weight.shape)


def _per_channel(array: np.ndarray, weight_shape: tuple[int, ...]) -> np.ndarray | None:
    """The constant as one number per output channel, or None where it varies otherwise; shape [channels].

    A convolution's output has as many dimensions as its weight, channels second.
    """
    channels, rank = weight_shape[0], len(weight_shape)
    if array.size == 1 and array.ndim <= rank:
        return np.full(channels, array.reshape(-1)[0], dtype=np.float32)
    if array.size != channels or array.ndim > rank or array.ndim < rank - 1:
        return None
    position = 1 - (rank - array.ndim)
    if array.shape[position] != channels:
        return None
    return array.reshape(channels)


def channel_constant(node: ir.Node, data: ir.Value, weight_shape: tuple[int, ...]) -> np.ndarray:
    """The per-channel constant of a foldable Mul or Add, shape [channels]."""
    other = constant_array(next(value for value in node.inputs if value is not data))
    array = None if other is None else _per_channel(other, weight_shape)
    if array is None:
        raise ValueError(f"'{node.name}' is not foldable")
    return array


def _float(node: ir.Node, name: str, default: float) -> float:
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.as_float()
