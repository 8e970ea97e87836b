"""Summary: a model in a few numbers, as the `inspect` document has them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import onnx_ir as ir

from core.graph.constants import stored_tensor
from core.graph.cost import attribute_bytes, attribute_parameters, count_parameters
from core.graph.identity import walk
from core.graph.layer import LayerTable
from core.graph.liveness import activation_peak_bytes
from core.intake.model import Model
from core.intake.scopes import walk_graphs, walk_scopes


def summarize(model: Model, table: LayerTable) -> dict[str, Any]:
    """Sums a model up.

    Returns:
        {"model": {...}, "ops": {operator: how many layers}}. `macs` adds up the layers whose cost is known,
        `macs_unknown` says how many are not. A weight that several layers read counts once. What a graph that cannot be
        read holds is None.
    """
    counts = _counts(model, table)
    return {
        "model": {
            "name": model.name,
            "graph": model.ir.graph.name or "",
            "sha256": model.sha256,
            "bytes": model.size_bytes,
            "opset": model.opset,
            "ir": model.ir.ir_version,
            **(counts if model.readable else dict.fromkeys(counts)),
            "inputs": [spec.to_dict() for spec in model.inputs],
            "outputs": [spec.to_dict() for spec in model.outputs],
        },
        "ops": dict(Counter(layer.op_type for layer in table).most_common()),
    }


def _counts(model: Model, table: LayerTable) -> dict[str, int | None]:
    parameters, weight_bytes = _weights(model.ir)
    known = [layer.macs for layer in table if layer.macs is not None]
    return {
        "node_count": sum(1 for _ in walk_scopes(model.ir.graph)),
        "layer_count": len(table),
        "group_count": len(table.groups),
        "parameters": parameters,
        "macs": sum(known) if known or not len(table) else None,
        "macs_unknown": len(table) - len(known),
        "weight_bytes": weight_bytes,
        "activation_peak_bytes": activation_peak_bytes(model, table),
        "subgraph_count": sum(1 for _ in walk_graphs(model.ir.graph)) - 1,
    }


def _weights(model: ir.Model) -> tuple[int, int]:
    """Parameters and bytes of everything that is stored and read, each tensor once."""
    tensors: dict[int, ir.TensorProtocol] = {}
    parameters, size_bytes = 0, 0
    for layer in walk(model):
        for value in layer.node.inputs:
            tensor = stored_tensor(value)
            if tensor is not None:
                tensors[id(tensor)] = tensor
        parameters += attribute_parameters(layer.node)
        size_bytes += attribute_bytes(layer.node)
    parameters += sum(count_parameters(tensor) for tensor in tensors.values())
    return parameters, size_bytes + sum(int(tensor.nbytes) for tensor in tensors.values())
