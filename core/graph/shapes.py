"""Shapes: what every layer reads and writes, with the inputs' sizes filled in.

One pass in graph order, node by node through ONNX's own inference, sub-graph bodies and model functions included. Small
integer values (the `Shape -> Gather -> Concat -> Reshape` chains of exporters) are computed on the way, so sizes that
follow from the inputs become known. Where nothing is known a shape is None or keeps a symbol; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx
import onnx_ir as ir

from core.graph.identity import walk
from core.graph.inference import Inference
from core.graph.known import Known
from core.graph.layer import Shape
from core.intake.specs import dtype_name


@dataclass(frozen=True, slots=True)
class Tensor:
    """Shape (None: unknown) and element type ("": unknown) of one value."""

    shape: Shape | None
    dtype: str


@dataclass(frozen=True, slots=True)
class LayerTensors:
    """What one layer reads and writes, in the order of the node; an input that is left out is (None, "")."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


def infer_tensors(model: ir.Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, LayerTensors]:
    """Infers shapes and types of all layers.

    Args:
        model: a loaded model; it is not changed.
        shapes: concrete sizes of inputs by name; inputs that are missing keep their symbols.

    Returns:
        Layer id -> its tensors.
    """
    inference = Inference(model)
    for value in model.graph.inputs:
        if value.name and value.name in shapes:
            inference.fix_shape(value, shapes[value.name])
    inference.run(model.graph)
    return {
        layer.id: LayerTensors(
            inputs=tuple(_tensor(inference, value) for value in layer.node.inputs),
            outputs=tuple(_tensor(inference, value) for value in layer.node.outputs),
        )
        for layer in walk(model)
    }


def _tensor(inference: Inference, value: ir.Value | None) -> Tensor:
    if value is None:
        return Tensor(None, "")
    known: Known = inference.lookup(value)
    if not known.type.HasField("tensor_type"):
        return Tensor(None, "")
    tensor = known.type.tensor_type
    shape = tuple(_dimension(size) for size in tensor.shape.dim) if tensor.HasField("shape") else None
    return Tensor(shape, dtype_name(ir.DataType(tensor.elem_type)))


def _dimension(size: onnx.TensorShapeProto.Dimension) -> int | str:
    if size.HasField("dim_value") and size.dim_value >= 0:
        return int(size.dim_value)
    return size.dim_param or "?"
