"""Tables: which stored table an integer input selects from, so that made-up indices stay inside it."""

from __future__ import annotations

import onnx_ir as ir

#: Operators that hand indices on unchanged.
_PASSING = frozenset({"Cast", "Unsqueeze", "Squeeze", "Reshape", "Identity", "Flatten", "Slice", "Transpose", "Expand"})
#: Inputs of the runtime's fused embedding: token ids -> word table, segment ids -> segment table, position ids.
_FUSED_TABLES = {0: 2, 1: 4, 8: 3}


def index_limit(model: ir.Model, input_name: str) -> int | None:
    """The number of rows of the smallest table that an input selects from; None where it selects from none."""
    value = next((value for value in model.graph.inputs if value.name == input_name), None)
    limits = [] if value is None else _limits(value, seen=set())
    return min(limits, default=None)


def _limits(value: ir.Value, seen: set[ir.Value]) -> list[int]:
    seen.add(value)
    limits = []
    for node, position in value.uses():
        rows = _rows(node, position)
        if rows is not None:
            limits.append(rows)
        elif node.op_type in _PASSING and position == 0 and node.outputs[0] not in seen:
            limits.extend(_limits(node.outputs[0], seen))
    return limits


def _rows(node: ir.Node, position: int) -> int | None:
    """How many rows the table has that a node selects from by the input at this position."""
    if node.op_type == "Gather" and position == 1:
        axis = node.attributes["axis"].as_int() if "axis" in node.attributes else 0
        return _size(node.inputs[0], axis)
    if node.op_type == "EmbedLayerNormalization" and position in _FUSED_TABLES:
        table = _FUSED_TABLES[position]
        return _size(node.inputs[table], 0) if table < len(node.inputs) else None
    return None


def _size(table: ir.Value | None, axis: int) -> int | None:
    shape = None if table is None else _stored_shape(table)
    sizes = [] if shape is None else list(shape)
    if not -len(sizes) <= axis < len(sizes):
        return None
    size = sizes[axis]
    return size if isinstance(size, int) else None


def _stored_shape(table: ir.Value) -> ir.ShapeProtocol | None:
    """The shape of a table that is stored in the model (weight, `Constant`, cast or dequantized), else as declared."""
    producer = table.producer()
    if table.const_value is not None:
        return table.const_value.shape
    if producer is None:
        return None
    if producer.op_type == "Constant" and "value" in producer.attributes:
        return producer.attributes["value"].as_tensor().shape
    if producer.op_type in ("Identity", "Cast", "DequantizeLinear") and producer.inputs[0] is not None:
        return _stored_shape(producer.inputs[0])
    return None
