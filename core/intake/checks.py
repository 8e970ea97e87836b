"""Checks: everything that is known to be wrong with a file without running it.

An error means that the runtime cannot run the model. What ONNX's checker refuses but the runtime may run is a warning:
whether it does is asked of the runtime itself, later.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from core.intake.external import check_external_data, is_external
from core.intake.limits import check_versions
from core.intake.model import Finding, Severity
from core.intake.operators import check_operators
from core.intake.protos import graphs_of
from core.intake.scopes import walk_graphs
from core.intake.specs import TYPE_NOTE, type_name
from core.intake.stored_low import stored_low
from core.intake.structure import check_structure
from core.intake.weights import check_weights

_LONGEST_MESSAGE = 300
_PIECE_ELEMENTS = 1 << 20
_NOT_NUMBERS: tuple[tuple[str, Severity, np.ufunc], ...] = (
    ("NaN", "warning", np.isnan),
    ("infinite numbers", "note", np.isinf),
)


def check_file(proto: onnx.ModelProto) -> list[Finding]:
    """What keeps the runtime from running a file whose graph can still be shown: versions and operators."""
    return [*check_versions(proto), *check_operators(proto)]


def check_readable(proto: onnx.ModelProto, folder: Path | None) -> list[Finding]:
    """What keeps a file from becoming a graph at all: broken structure, weights that cannot be read."""
    return [*check_structure(proto.graph), *check_weights(proto.graph), *check_external_data(proto, folder)]


def check_graph(model: ir.Model) -> list[Finding]:
    """What else the user should know of a loaded and repaired graph."""
    return [*_checker(model), *_weights(model), *_interface(model), *stored_low(model)]


def _checker(model: ir.Model) -> Iterator[Finding]:
    """What ONNX's own checker (where it knows all types) and shape inference say of the repaired graph."""
    proto = _without_mapped(ir.to_proto(model))
    hint = "The runtime may run it all the same."
    if not any(TYPE_NOTE in value.metadata_props for value in (*model.graph.inputs, *model.graph.outputs)):
        try:
            onnx.checker.check_model(proto)
        except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
            yield Finding("warning", f"ONNX's checker refuses the model: {_one_line(error)}", hint)
    for graph in (proto.graph, *(body for node in proto.graph.node for body in _bodies(node))):
        del graph.value_info[:]
    try:
        onnx.shape_inference.infer_shapes(proto, strict_mode=True)
    except (onnx.shape_inference.InferenceError, ValueError, RuntimeError) as error:
        yield Finding("warning", f"The shapes do not fit together: {_one_line(error)}", hint)


def _without_mapped(proto: onnx.ModelProto) -> onnx.ModelProto:
    """Turns weights in other files into inputs of the same type: the checker would look for them in its own folder."""
    for graph in graphs_of(proto.graph):
        mapped = [tensor for tensor in graph.initializer if is_external(tensor)]
        known = {value.name for value in proto.graph.input}
        for tensor in mapped:
            if tensor.name not in known:
                value = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
                proto.graph.input.append(value)
        if mapped:
            kept = [tensor for tensor in graph.initializer if not is_external(tensor)]
            del graph.initializer[:]
            graph.initializer.extend(kept)
    return proto


def _bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g


def _weights(model: ir.Model) -> Iterator[Finding]:
    """Weights that are not numbers; infinite ones are often meant, as the lowest number of a mask."""
    tensors = {
        name: value.const_value
        for graph in walk_graphs(model.graph)
        for name, value in graph.initializers.items()
        if value.const_value is not None and value.const_value.dtype.is_floating_point()
    }
    found: dict[str, list[str]] = {what: [] for what, *_ in _NOT_NUMBERS}
    for name, tensor in tensors.items():
        for what in _kinds_in(tensor):
            found[what].append(name)
    for what, severity, _ in _NOT_NUMBERS:
        bad = found[what]
        if bad:
            more = f" and {len(bad) - 1} other weights hold" if len(bad) > 1 else " holds"
            yield Finding(severity, f"The weight '{bad[0]}'{more} {what}.", "Outputs may hold them too.")


def _kinds_in(tensor: ir.TensorProtocol) -> list[str]:
    """What a tensor holds besides numbers; looked at in pieces, and a mapped file is let go again."""
    flat = tensor.numpy().reshape(-1)
    pieces = range(0, flat.size, _PIECE_ELEMENTS)
    kinds = [
        what for what, _, holds in _NOT_NUMBERS if any(holds(flat[at : at + _PIECE_ELEMENTS]).any() for at in pieces)
    ]
    del flat
    if isinstance(tensor, ir.ExternalTensor):
        tensor.release()
    return kinds


def _interface(model: ir.Model) -> Iterator[Finding]:
    """Inputs that no array can feed."""
    for value in model.graph.inputs:
        kind = type_name(value)
        if "(" in kind:
            yield Finding("warning", f"The input '{value.name}' is {kind}: only tensors can be fed from data.", None)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + " ..."
