"""Constants: the array behind a value, however the exporter wrote it.

Weights come as initializers, as `Constant` nodes, from an outer graph, as `Identity` of one of these, or through a few
operators that the runtime computes once when it opens the model: a reshaped bias, a transposed or cast weight, an int8
weight times its scale. `DequantizeLinear` is none of them: what it writes has a precision of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir

Array = np.ndarray[Any, np.dtype[Any]]

#: Larger constants are not made up from their shape; the runtime computes them anew in every session.
_LARGEST_MADE_UP = 100_000_000


def stored_tensor(value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor that the file stores for a value itself (initializer or `Constant`), or None; reads no bytes."""
    if value is None:
        return None
    if value.is_initializer():
        return None if value.is_graph_input() else value.const_value
    producer = value.producer()
    if (
        producer is None
        or producer.op_type != "Constant"
        or producer.domain != ""
        or "sparse_value" in producer.attributes
    ):
        return None
    return ir.convenience.get_const_tensor(value)


def constant_tensor(value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor behind a value, or None where the value is computed from what is given at run time."""
    stored = stored_tensor(value)
    if stored is not None or value is None or not is_constant_value(value):
        return stored
    producer = value.producer()
    if producer is not None and producer.op_type == "Identity":
        return constant_tensor(producer.inputs[0])
    return ir.tensor(_folded(producer), name=value.name) if producer is not None else None


def constant_array(value: ir.Value | None) -> Array | None:
    """The array behind a value, or None where the value is computed from what is given at run time."""
    tensor = constant_tensor(value)
    return None if tensor is None else tensor.numpy()


def is_constant_value(value: ir.Value | None) -> bool:
    """Whether a value is stored in the model or follows from what is; computes nothing."""
    if value is None:
        return False
    if stored_tensor(value) is not None:
        return True
    producer = value.producer()
    if producer is None or producer.domain != "" or producer.op_type not in _FOLDS or not producer.inputs:
        return False
    if not all(read is None or is_constant_value(read) for read in producer.inputs):
        return False
    return producer.op_type != "ConstantOfShape" or math.prod(_shape_asked(producer)) <= _LARGEST_MADE_UP


def is_data_movement(node: ir.Node) -> bool:
    """Whether a node only renames, reshapes or turns its first input."""
    return node.domain == "" and node.op_type in _MOVES


def _folded(node: ir.Node) -> Array:
    arrays = [constant_array(read) for read in node.inputs]
    return np.ascontiguousarray(_FOLDS[node.op_type](node, [array for array in arrays if array is not None]))


def _shape_asked(node: ir.Node) -> tuple[int, ...]:
    asked = constant_array(node.inputs[0])
    return () if asked is None else tuple(int(size) for size in asked)


def _attribute(node: ir.Node, name: str, default: Any) -> Any:
    attribute = node.attributes.get(name)
    return default if attribute is None else attribute.value


def _axes(node: ir.Node, arrays: list[Array]) -> tuple[int, ...] | None:
    """The axes of Squeeze and Unsqueeze: an input since operator set 13, an attribute before."""
    given = arrays[1].tolist() if len(arrays) > 1 else _attribute(node, "axes", None)
    return None if given is None else tuple(int(axis) for axis in given)


def _reshape(node: ir.Node, arrays: list[Array]) -> Array:
    data, asked = arrays[0], [int(size) for size in arrays[1]]
    if not _attribute(node, "allowzero", 0):
        asked = [data.shape[axis] if size == 0 else size for axis, size in enumerate(asked)]
    return data.reshape(asked)


def _flatten(node: ir.Node, arrays: list[Array]) -> Array:
    axis = _attribute(node, "axis", 1) % (arrays[0].ndim + 1)
    return arrays[0].reshape(math.prod(arrays[0].shape[:axis]), -1)


def _unsqueeze(node: ir.Node, arrays: list[Array]) -> Array:
    return np.expand_dims(arrays[0], _axes(node, arrays) or ())


def _squeeze(node: ir.Node, arrays: list[Array]) -> Array:
    return np.squeeze(arrays[0], _axes(node, arrays))


def _transpose(node: ir.Node, arrays: list[Array]) -> Array:
    return np.transpose(arrays[0], _attribute(node, "perm", None))


def _cast(node: ir.Node, arrays: list[Array]) -> Array:
    return arrays[0].astype(ir.DataType(_attribute(node, "to", None)).numpy())


def _divide(_: ir.Node, arrays: list[Array]) -> Array:
    """ONNX divides integers toward zero."""
    quotient = np.true_divide(arrays[0], arrays[1])
    return (np.trunc(quotient) if arrays[0].dtype.kind in "iu" else quotient).astype(arrays[0].dtype)


def _constant_of_shape(node: ir.Node, _: list[Array]) -> Array:
    fill = _attribute(node, "value", None)
    number = np.zeros(1, np.float32) if fill is None else fill.numpy()
    return np.full(_shape_asked(node), number.reshape(-1)[0], number.dtype)


_MOVES: dict[str, Callable[[ir.Node, list[Array]], Array]] = {
    "Identity": lambda _, arrays: arrays[0],
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Unsqueeze": _unsqueeze,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
}
_FOLDS: dict[str, Callable[[ir.Node, list[Array]], Array]] = {
    **_MOVES,
    "Cast": _cast,
    "Add": lambda _, arrays: arrays[0] + arrays[1],
    "Sub": lambda _, arrays: arrays[0] - arrays[1],
    "Mul": lambda _, arrays: arrays[0] * arrays[1],
    "Div": _divide,
    "ConstantOfShape": _constant_of_shape,
}
