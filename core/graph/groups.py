"""Groups: the layers that onnxruntime's CPU provider fuses into one kernel and that must share one precision.

A group starts at its anchor and grows along values that nothing else reads and that are no output of a graph:
Conv + BatchNormalization or per-channel Mul / Add + one activation, MatMul + bias + one activation, and so on. A Q/DQ
border inside a group costs fidelity and speed, so a setting on one layer is a setting on its group. Groups never cross
scopes; anchors that share a weight stay apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from core.graph.activations import find_activation, reads_only, sole_reader
from core.graph.constants import constant_tensor, is_constant_value
from core.graph.identity import LayerNode
from core.graph.layer import Group, Shape
from core.graph.shapes import LayerTensors

_ANCHORS = {
    "Conv": "conv",
    "ConvTranspose": "conv",
    "FusedConv": "conv",
    "Gemm": "gemm",
    "FusedGemm": "gemm",
    "MatMul": "matmul",
    "FusedMatMul": "matmul",
    "TransposeMatMul": "matmul",
    "LSTM": "recurrent",
    "GRU": "recurrent",
    "RNN": "recurrent",
}
_ANCHOR_DOMAINS = ("", "com.microsoft", "com.microsoft.nchwc")
_JOINS = ("Add", "Mul")
_FOLLOWERS = frozenset({
    "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Reshape", "Transpose", "Flatten", "Squeeze",
    "Unsqueeze", "Concat", "Split", "Slice", "Pad", "Resize", "Upsample", "Identity", "Dropout", "DepthToSpace",
    "SpaceToDepth", "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Elu", "PRelu",
    "Selu", "Gelu", "Mish",
})  # fmt: skip
_FLOATS = ("", "float32", "float16", "bfloat16", "float64")
#: BatchNormalization written out as Sub, Mul, Mul, Add has four affine steps.
_MOST_AFFINE_STEPS = 4


def group_layers(nodes: Sequence[LayerNode], tensors: Mapping[str, LayerTensors]) -> tuple[Group, ...]:
    """Divides layers into groups; every layer is in exactly one.

    Args:
        nodes: all layers in graph order.
        tensors: layer id -> what it reads and writes.

    Returns:
        The groups in the order of their anchors.
    """
    id_of = {layer.node: layer.id for layer in nodes}
    taken: set[ir.Node] = set()
    groups = []
    for layer in nodes:
        if layer.node in taken:
            continue
        kind, members = _grow(layer.node, tensors[layer.id])
        members = [node for node in members if node not in taken and node in id_of]
        taken.update(members)
        groups.append(Group(layer.id, layer.id, kind, tuple(id_of[node] for node in members)))
    return tuple(groups)


def _grow(node: ir.Node, tensors: LayerTensors) -> tuple[str, list[ir.Node]]:
    """The kind of group that starts at a node, and its members."""
    kind = _kind(node, tensors)
    if kind in ("conv", "gemm", "matmul"):
        affine = _affine_steps(node, kind, tensors)
        return kind, [*affine, *find_activation(affine[-1].outputs[0])]
    if kind == "follower" and node.op_type in _JOINS:
        following = sole_reader(node.outputs[0])
        return kind, [node, following] if following is not None and following.op_type == "Relu" else [node]
    return kind, [node]


def _kind(node: ir.Node, tensors: LayerTensors) -> str:
    if tensors.outputs and tensors.outputs[0].dtype not in _FLOATS:
        return "other"
    if node.op_type in _ANCHORS and node.domain in _ANCHOR_DOMAINS:
        return _ANCHORS[node.op_type] if _reads_activation(node) else "other"
    if node.domain != "":
        return "other"
    if node.op_type in _JOINS:
        return "follower" if not any(is_constant_value(value) for value in node.inputs) else "other"
    return "follower" if node.op_type in _FOLLOWERS and _reads_activation(node) else "other"


def _reads_activation(node: ir.Node) -> bool:
    """Whether a node computes on something that is not stored in the model."""
    return any(value is not None and not is_constant_value(value) for value in node.inputs)


def _affine_steps(anchor: ir.Node, kind: str, tensors: LayerTensors) -> list[ir.Node]:
    """The anchor and the constant scale and shift behind it that fold into its weights and bias."""
    steps = [anchor]
    shape = tensors.outputs[0].shape if tensors.outputs else None
    most = _MOST_AFFINE_STEPS if kind == "conv" else 1
    while len(steps) <= most:
        value = steps[-1].outputs[0]
        following = sole_reader(value)
        if following is None or not _folds(following, value, kind, anchor, shape):
            break
        steps.append(following)
    return steps


def _folds(node: ir.Node, value: ir.Value, kind: str, anchor: ir.Node, shape: Shape | None) -> bool:
    if node.domain != "" or not reads_only(node, value):
        return False
    if kind == "conv" and node.op_type == "BatchNormalization":
        return sum(bool(output.uses()) for output in node.outputs) <= 1
    if kind == "conv":
        minuend_first = node.op_type != "Sub" or node.inputs[0] is value
        return node.op_type in ("Add", "Sub", "Mul") and minuend_first and _per_channel(node, value, 1, shape)
    has_bias = kind == "gemm" and len(anchor.inputs) > 2 and anchor.inputs[2] is not None
    return node.op_type == "Add" and not has_bias and _per_channel(node, value, -1, shape)


def _per_channel(node: ir.Node, value: ir.Value, axis: int, shape: Shape | None) -> bool:
    """Whether the constant that a node reads beside a value of that shape varies along one axis only.

    The axis is 1 for convolutions (constants like [C, 1, 1]), -1 for matrix products ([C]); one number always counts.
    """
    tensor = constant_tensor(next((read for read in node.inputs if read is not value), None))
    if tensor is None:
        return False
    sizes = [size if isinstance(size, int) else 0 for size in tensor.shape]
    wide = [position - len(sizes) for position, size in enumerate(sizes) if size != 1]
    if not wide:
        return True
    if len(wide) > 1 or shape is None or not -len(shape) <= wide[0]:
        return False
    return wide[0] == (axis if axis < 0 else axis - len(shape)) and shape[wide[0]] in (sizes[wide[0]], "?")
