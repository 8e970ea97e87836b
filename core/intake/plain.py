"""Plain forms: what the graph library cannot hold is written in a form it can, before the file becomes a graph.

Sparse weights become dense ones. Types that it does not know (maps) are taken off their values and kept as text.
"""

from __future__ import annotations

import numpy as np
import onnx

from core.intake.model import Repair
from core.intake.protos import graphs_of


def densify(graph: onnx.GraphProto) -> tuple[Repair, ...]:
    """Replaces sparse weights and sparse `Constant` values by dense ones of the same numbers."""
    count = 0
    for inner in graphs_of(graph):
        for sparse in inner.sparse_initializer:
            inner.initializer.append(_dense(sparse))
        count += len(inner.sparse_initializer)
        del inner.sparse_initializer[:]
        for node in inner.node:
            for attribute in node.attribute:
                if node.op_type == "Constant" and attribute.name == "sparse_value":
                    dense = _dense(attribute.sparse_tensor)
                    attribute.Clear()
                    attribute.CopyFrom(onnx.helper.make_attribute("value", dense))
                    count += 1
    why = "The runtime stores them densely as well; the numbers are the same."
    return (Repair("wrote sparse weights out densely", why, count),) if count else ()


def take_off_types(graph: onnx.GraphProto) -> dict[str, str]:
    """Clears types with maps in them, which the runtime infers again; returns value name -> type as text."""
    taken = {}
    for inner in graphs_of(graph):
        for value in (*inner.input, *inner.output, *inner.value_info):
            if _holds_map(value.type):
                taken[value.name] = _text(value.type)
                value.ClearField("type")
    return taken


def _dense(sparse: onnx.SparseTensorProto) -> onnx.TensorProto:
    """Writes a sparse tensor out: indices are flat positions [n] or coordinates [n, rank]."""
    values = onnx.numpy_helper.to_array(sparse.values)
    indices = onnx.numpy_helper.to_array(sparse.indices)
    shape = tuple(sparse.dims)
    dense = np.zeros(shape, values.dtype)
    flat = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), shape)
    dense.reshape(-1)[flat] = values
    return onnx.numpy_helper.from_array(dense, sparse.values.name)


def _holds_map(kind: onnx.TypeProto) -> bool:
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return _holds_map(kind.sequence_type.elem_type)
    if which == "optional_type":
        return _holds_map(kind.optional_type.elem_type)
    return bool(which == "map_type")


def _text(kind: onnx.TypeProto) -> str:
    """A type as text: seq(map(int64, float32))."""
    which = kind.WhichOneof("value")
    if which == "sequence_type":
        return f"seq({_text(kind.sequence_type.elem_type)})"
    if which == "optional_type":
        return f"optional({_text(kind.optional_type.elem_type)})"
    if which == "map_type":
        return f"map({_element(kind.map_type.key_type)}, {_text(kind.map_type.value_type)})"
    return _element(kind.tensor_type.elem_type)


def _element(element: int) -> str:
    return "str" if element == onnx.TensorProto.STRING else str(onnx.helper.tensor_dtype_to_np_dtype(element))
