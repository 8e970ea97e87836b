"""A key for every value that survives copying a model: layer id and output number, or the graph input's name."""

from __future__ import annotations

import onnx_ir as ir

from core.graph.identity import walk
from core.graph.layer import LayerTable

LAYER = "mixdesk.layer"
GROUP = "mixdesk.group"
BUCKET = "mixdesk.bucket"


def nodes_by_layer(model: ir.Model) -> dict[str, ir.Node]:
    """Layer id -> node of this copy."""
    return {found.id: found.node for found in walk(model)}


def value_keys(model: ir.Model) -> dict[int, str]:
    """`id(value)` -> key, for graph inputs, the formal inputs of bodies and every layer's outputs."""
    keys = {id(value): f"input:{value.name}" for value in model.graph.inputs}
    for found in walk(model):
        for number, output in enumerate(found.node.outputs):
            keys[id(output)] = f"{found.id}:{number}"
        for attribute in found.node.attributes.values():
            if not attribute.is_ref() and attribute.type == ir.AttributeType.GRAPH:
                for value in attribute.as_graph().inputs:
                    keys[id(value)] = f"{found.id}/{attribute.name}:input:{value.name}"
    return keys


def mark_layers(model: ir.Model, table: LayerTable) -> dict[str, ir.Node]:
    """Writes each node's layer id into its metadata, so that a candidate's nodes can be traced to their source.

    Nodes that the table does not know (added when the opset was lifted) are marked as copies.
    """
    nodes = {}
    for layer_id, node in nodes_by_layer(model).items():
        if layer_id in table:
            node.metadata_props[LAYER] = layer_id
            nodes[layer_id] = node
        else:
            node.metadata_props.setdefault(BUCKET, "copy")
    return nodes
