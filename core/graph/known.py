"""Known: what inference has learned of a value, and how two pieces of knowledge combine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a value: its type with shape, and its numbers where they are few and follow from shapes."""

    type: onnx.TypeProto
    array: Array | None = None


def says_shape(kind: onnx.TypeProto) -> bool:
    """Whether a type is complete: a tensor with a shape, or something else than a tensor."""
    return kind.tensor_type.HasField("shape") or kind.WhichOneof("value") not in (None, "tensor_type")


def merge(one: Known, other: Known) -> Known:
    """What holds for both: equal sizes stay, others become open; unequal ranks leave the shape unknown."""
    merged = onnx.TypeProto()
    merged.CopyFrom(one.type if one.type.WhichOneof("value") else other.type)
    shapes = [known.type.tensor_type.shape for known in (one, other) if known.type.tensor_type.HasField("shape")]
    if len(shapes) < 2 or len(shapes[0].dim) != len(shapes[1].dim):
        if merged.HasField("tensor_type"):
            merged.tensor_type.ClearField("shape")
        return Known(merged)
    for size, first, second in zip(merged.tensor_type.shape.dim, shapes[0].dim, shapes[1].dim, strict=True):
        if first != second:
            size.Clear()
    return Known(merged)


def forget_values(known: Known) -> Known:
    """The type alone: what a loop carries has other numbers in every turn."""
    return Known(known.type)


def scalar(element: int) -> Known:
    """A single number of that ONNX element type."""
    return Known(onnx.helper.make_tensor_type_proto(element, []))


def stack(known: Known, length: int | None) -> Known:
    """What is collected over all turns: the body's shape with the number of turns in front."""
    stacked = onnx.TypeProto()
    stacked.CopyFrom(known.type)
    if not stacked.tensor_type.HasField("shape"):
        return Known(stacked)
    sizes = list(known.type.tensor_type.shape.dim)
    del stacked.tensor_type.shape.dim[:]
    first = stacked.tensor_type.shape.dim.add()
    if length is not None:
        first.dim_value = length
    stacked.tensor_type.shape.dim.extend(sizes)
    return Known(stacked)
