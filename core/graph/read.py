"""Reading layers: the structure of a loaded model as one table that every number is keyed by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import onnx_ir as ir

from core.graph.cost import (
    attribute_bytes,
    attribute_parameters,
    count_macs,
    count_parameters,
    output_bytes,
    read_constants,
)
from core.graph.groups import group_layers
from core.graph.identity import LayerNode, walk
from core.graph.layer import Layer, LayerTable
from core.graph.modules import read_module
from core.graph.shapes import LayerTensors, infer_tensors
from core.intake.model import Model
from core.intake.names import given_name, unique_names
from core.intake.proposals import propose_shapes
from core.intake.scopes import bodies


def read_layers(model: Model, *, shapes: Mapping[str, tuple[int, ...]] | None = None) -> LayerTable:
    """Reads all layers, sub-graph bodies included, with groups, shapes and costs.

    Args:
        model: a loaded model.
        shapes: sizes of the inputs by name. An input that is missing has the size that intake proposes (batch 1 ...).

    Returns:
        The layers in graph order; a shape that cannot be inferred is None and so is what follows from it.
    """
    tensors = infer_tensors(model.ir, propose_shapes(model, shapes))
    nodes = tuple(walk(model.ir))
    groups = group_layers(nodes, tensors)
    group_of = {layer_id: group.id for group in groups for layer_id in group.layers}
    unique = unique_names(model.ir.graph)
    layers = tuple(
        replace(
            _layer(position, layer, group_of[layer.id], tensors[layer.id]),
            name=given_name(layer.node),
            unique_name=unique[layer.node],
        )
        for position, layer in enumerate(nodes)
    )
    return LayerTable(layers=layers, groups=groups, edges=tuple(dict.fromkeys(_edges(nodes))))


def _layer(index: int, layer: LayerNode, group: str, tensors: LayerTensors) -> Layer:
    node = layer.node
    constants = read_constants(node)
    return Layer(
        id=layer.id,
        index=index,
        op_type=node.op_type,
        domain=node.domain,
        group=group,
        scope=layer.scope,
        module=read_module(node),
        inputs=tuple("" if value is None else value.name or "" for value in node.inputs),
        outputs=tuple(value.name or "" for value in node.outputs),
        input_shapes=tuple(tensor.shape for tensor in tensors.inputs),
        output_shapes=tuple(tensor.shape for tensor in tensors.outputs),
        dtype=tensors.outputs[0].dtype if tensors.outputs else "",
        parameters=sum(count_parameters(tensor) for tensor in constants) + attribute_parameters(node),
        weight_bytes=sum(int(tensor.nbytes) for tensor in constants) + attribute_bytes(node),
        activation_bytes=output_bytes(node, tensors),
        macs=count_macs(node, tensors),
    )


def _edges(nodes: Sequence[LayerNode]) -> Iterator[tuple[str, str]]:
    """Who feeds whom: the writer of each value and its readers; a container feeds what reads its body's inputs."""
    writer: dict[ir.Value, str] = {}
    for layer in nodes:
        writer.update(dict.fromkeys(layer.node.outputs, layer.id))
        for _, body in bodies(layer.node):
            writer.update(dict.fromkeys(body.inputs, layer.id))
    for layer in nodes:
        for value in layer.node.inputs:
            if value is not None and value in writer:
                yield writer[value], layer.id
