"""Model Explorer: the time of every layer as node data that Model Explorer lays over its graph.

The format is `NodeDataProviderData` of google-ai-edge/model-explorer: for each graph its node data, with results by
id of node and the colours of the scale. Ids are those of its ONNX adapter (model-explorer-onnx): the node's name;
below an `If`, whose branches it draws inside the graph around it, with the path before it; the bodies of loops are
graphs of their own. The adapter numbers repeated names and makes up missing ones, as onnx-ir does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.report.file_nodes import unique_names

Document = Mapping[str, Any]

#: What the adapter calls a graph without a name.
_NAMELESS_GRAPH = "<main>"
#: From the least time to the most; text turns white on the dark end by itself.
_SCALE = ({"stop": 0, "bgColor": "#f7fbff"}, {"stop": 0.5, "bgColor": "#6baed6"}, {"stop": 1, "bgColor": "#08306b"})
#: Attribute of a container's body that `Layer.scope` names by its beginning.
_ATTRIBUTES = {"then": "then_branch", "else": "else_branch"}


def node_data(document: Document, inspection: Document) -> dict[str, Any]:
    """Milliseconds per layer by graph and node id, of a `profile` document and the `inspect` document of its model."""
    names = unique_names(inspection)
    layers = {layer["id"]: layer for layer in inspection.get("layers") or ()}
    main = (inspection.get("model") or {}).get("graph") or _NAMELESS_GRAPH
    graphs: dict[str, dict[str, Any]] = {main: _graph()}
    for row in document.get("layers") or ():
        if row["id"] in layers and row.get("ms") is not None:
            graph, prefix = _place(layers[row["id"]]["scope"], main, names, layers)
            results = graphs.setdefault(graph, _graph())["results"]
            results[prefix + names[row["id"]]] = {"value": row["ms"]}
    return graphs


def _graph() -> dict[str, Any]:
    return {"name": "Mixdesk: time in ms", "results": {}, "gradient": [dict(stop) for stop in _SCALE]}


def _place(
    scope: Sequence[str], graph: str, names: Mapping[str, str], layers: Mapping[str, Document]
) -> tuple[str, str]:
    """The graph that nodes of this scope are drawn in, and what stands before their names."""
    prefix = ""
    for depth in range(0, len(scope), 2):
        container, label = "/".join(scope[: depth + 1]), scope[depth + 1]
        path = f"{prefix}{names[container]}/{_ATTRIBUTES.get(label, label)}"
        branch = layers[container]["op"] == "If"
        graph, prefix = (graph, f"{path}/") if branch else (path, "")
    return graph, prefix
