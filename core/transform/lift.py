"""Lifting a model to opset 13, the first whose QuantizeLinear knows one scale per channel.

From opset 11 and 12 only a handful of operators changed: axes and splits became inputs, and Softmax and its kin stopped
flattening their input (https://github.com/onnx/onnx/blob/main/docs/Changelog.md, version 13). Older models go through
onnx's own converter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx
import onnx_ir as ir

from core.errors import UnavailableError
from core.graph.identity import walk
from core.transform.values import BUCKET

WANTED = 13
_OLDEST_BY_HAND = 11
#: Before IR 4 every initializer had to be a graph input too.
_IR_WITH_FREE_INITIALIZERS = 7


def lift_opset(model: ir.Model) -> tuple[ir.Model, str | None]:
    """Returns the model at opset >= 13 (the same object where it already is) and a sentence on what was done, or None.

    Node names stay; nodes that had to be added carry the bucket "copy" in their metadata.

    Raises:
        UnavailableError: the opset is too old and cannot be lifted; the message names it.
    """
    model.ir_version = max(model.ir_version, _IR_WITH_FREE_INITIALIZERS)
    opset = model.opset_imports.get("")
    if opset is None or opset >= WANTED:
        return model, None
    if opset >= _OLDEST_BY_HAND:
        for found in list(walk(model)):
            if found.node.domain == "" and found.node.op_type in _STEPS:
                _STEPS[found.node.op_type](found.node)
        model.opset_imports[""] = WANTED
        model.graph.opset_imports[""] = WANTED
        return model, f"Lifted from opset {opset} to {WANTED}: per-channel scales exist from 13 on."
    return _convert(model, opset), f"Converted from opset {opset} to {WANTED}: per-channel scales exist from 13 on."


def _convert(model: ir.Model, opset: int) -> ir.Model:
    mapped = _take_off_mapped(model)
    try:
        lifted = onnx.version_converter.convert_version(ir.to_proto(model), WANTED)
    except Exception as error:  # onnx raises plain RuntimeErrors of many kinds here
        message = f"int8 needs opset {WANTED}; this model has opset {opset} and could not be lifted."
        raise UnavailableError(message, hint=f"Export it again with opset {WANTED} or newer.") from error
    converted = ir.from_proto(lifted)
    _put_back(converted, mapped)
    return converted


def _take_off_mapped(model: ir.Model) -> dict[str, ir.ExternalTensor]:
    """Makes inputs of the main graph's weights in other files, which onnx's converter would lose; name -> weight."""
    found = {}
    for name, value in list(model.graph.initializers.items()):
        if isinstance(value.const_value, ir.ExternalTensor):
            found[name] = value.const_value
            del model.graph.initializers[name]
            value.const_value = None
            model.graph.inputs.append(value)
    return found


def _put_back(model: ir.Model, mapped: Mapping[str, ir.ExternalTensor]) -> None:
    for value in [value for value in model.graph.inputs if value.name in mapped]:
        model.graph.inputs.remove(value)
        value.const_value = mapped[value.name or ""]
        model.graph.register_initializer(value)


def _axes_to_input(node: ir.Node) -> None:
    _ints_to_input(node, "axes", position=1)


def _split_to_input(node: ir.Node) -> None:
    _ints_to_input(node, "split", position=1)


def _ints_to_input(node: ir.Node, name: str, *, position: int) -> None:
    attribute = node.attributes.pop(name, None)
    if attribute is None:
        return
    value = _constant_before(node, np.array(attribute.as_ints(), dtype=np.int64), f"{node.name}_{name}")
    node.resize_inputs(max(position + 1, len(node.inputs)))
    node.replace_input_with(position, value)


def _constant_before(node: ir.Node, array: np.ndarray, name: str) -> ir.Value:
    constant = ir.node("Constant", [], {"value": ir.tensor(array, name=name)}, name=name)
    constant.outputs[0].name = name
    constant.outputs[0].type = ir.TensorType(ir.DataType.INT64)
    constant.outputs[0].shape = ir.Shape(array.shape)
    node.prepend(constant)
    return constant.outputs[0]


def _softmax_along_axis(node: ir.Node) -> None:
    """Before 13 the input was flattened at `axis` (1 unless told): the same as now only for the last axis."""
    attribute = node.attributes.get("axis")
    axis = 1 if attribute is None else attribute.as_int()
    source = node.inputs[0]
    rank = None if source is None or source.shape is None else len(source.shape)
    node.attributes["axis"] = ir.AttrInt64("axis", axis)
    if axis == -1 or (rank is not None and axis % rank == rank - 1):
        node.attributes["axis"] = ir.AttrInt64("axis", -1)
        return
    _flatten_around(node, axis)


def _flatten_around(node: ir.Node, axis: int) -> None:
    """Shape -> Flatten(axis) -> Softmax(-1) -> Reshape back, which is what the old operator did inside."""
    source, result = node.inputs[0], node.outputs[0]
    if source is None:
        return
    name = node.name or "softmax"
    inserted = {BUCKET: "copy"}
    shape = ir.node("Shape", [source], name=f"{name}_shape", metadata_props=dict(inserted))
    flat = ir.node("Flatten", [source], {"axis": axis}, name=f"{name}_flat", metadata_props=dict(inserted))
    for made in (shape, flat):
        made.outputs[0].name = f"{made.name}_out"
        node.prepend(made)
    node.replace_input_with(0, flat.outputs[0])
    node.attributes["axis"] = ir.AttrInt64("axis", -1)
    back = ir.node("Reshape", [result, shape.outputs[0]], name=f"{name}_back", metadata_props=inserted)
    back.outputs[0].type, back.outputs[0].shape = result.type, result.shape
    final = result.name
    result.replace_all_uses_with(back.outputs[0], replace_graph_outputs=True)
    back.replace_input_with(0, result)
    result.name, back.outputs[0].name = f"{name}_soft", final
    result.shape = None
    node.append(back)


_STEPS: dict[str, Callable[[ir.Node], None]] = {
    "Squeeze": _axes_to_input,
    "Unsqueeze": _axes_to_input,
    "ReduceSum": _axes_to_input,
    "Split": _split_to_input,
    "Softmax": _softmax_along_axis,
    "LogSoftmax": _softmax_along_axis,
    "Hardmax": _softmax_along_axis,
}
