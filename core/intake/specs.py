"""Specs: name, element type and shape of a model's inputs and outputs, as the runtime sees them."""

from __future__ import annotations

import onnx_ir as ir

from core.intake.model import TensorSpec

#: Where the file names a type that `onnx_ir` cannot hold (maps), its text is kept here on the value.
TYPE_NOTE = "mixdesk.type"


#: Names of dimensions by which exporters say that they know none; two of them need not be the same size.
_ANONYMOUS = ("", "?", "-1", "None")


def input_specs(model: ir.Model) -> tuple[TensorSpec, ...]:
    """The inputs that must be fed: those without a value in the file."""
    return tuple(read_spec(value) for value in model.graph.inputs if not value.is_initializer())


def output_specs(model: ir.Model) -> tuple[TensorSpec, ...]:
    """The outputs, in order."""
    return tuple(read_spec(value) for value in model.graph.outputs)


def read_spec(value: ir.Value) -> TensorSpec:
    """The spec of one value."""
    return TensorSpec(value.name or "", type_name(value), read_shape(value.shape))


def read_shape(shape: ir.Shape | None) -> tuple[int | str, ...] | None:
    """A shape as plain values: ints, symbols' names, "?" where a dimension says nothing; None for an unknown rank.

    A dimension below zero, which some exporters write for "any", is "?".
    """
    if shape is None:
        return None
    return tuple(_dimension(dimension) for dimension in shape)


def type_name(value: ir.Value) -> str:
    """Element type as numpy names it ("float32", "str"), "seq(float32)" and the like for others, "" where unknown."""
    if value.type is None:
        return str(value.metadata_props.get(TYPE_NOTE, ""))
    return _type_text(value.type)


def dtype_name(dtype: ir.DataType | None) -> str:
    """The numpy name of an element type ("float32", "bfloat16", "str"), "" where unknown."""
    if dtype is None or dtype == ir.DataType.UNDEFINED:
        return ""
    if dtype == ir.DataType.STRING:
        return "str"
    return str(dtype.numpy())


def _dimension(dimension: int | ir.SymbolicDim) -> int | str:
    if isinstance(dimension, int):
        return dimension if dimension >= 0 else "?"
    name = dimension.value
    return name if isinstance(name, str) and name not in _ANONYMOUS else "?"


def _type_text(kind: ir.TypeProtocol) -> str:
    if isinstance(kind, ir.SequenceType):
        return f"seq({_type_text(kind.elem_type)})"
    if isinstance(kind, ir.OptionalType):
        return f"optional({_type_text(kind.elem_type)})"
    return dtype_name(kind.dtype)
