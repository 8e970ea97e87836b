"""Scopes: where a node stands among nested graphs, and the id that follows from it.

A node in the `then` branch of the node `if_1` has the scope ("if_1", "then"); its layer id is "if_1/then/" + its name.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

Scope = tuple[str, ...]


def bodies(node: ir.Node) -> Iterator[tuple[str, ir.Graph]]:
    """Yields (label, graph) of each sub-graph of a node: "then" and "else" of an `If`, "body" of a `Loop` or `Scan`."""
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        label = attribute.name.removesuffix("_branch")
        if attribute.type == ir.AttributeType.GRAPH:
            yield label, attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            for position, graph in enumerate(attribute.as_graphs()):
                yield f"{label}_{position}", graph


def is_constant(node: ir.Node) -> bool:
    """Whether this is a `Constant`: a stored value, not a layer."""
    return node.op_type == "Constant" and node.domain == ""


def layer_id(scope: Scope, name: str) -> str:
    """The id of the layer of that name in that scope."""
    return "/".join((*scope, name))


def walk_scopes(graph: ir.Graph, scope: Scope = ()) -> Iterator[tuple[Scope, ir.Node]]:
    """Yields every node with its scope in graph order, bodies right after their container, `Constant` nodes included.

    A node's name is read when its bodies are entered, so a caller may rename it before it asks for the next one.
    """
    for node in graph:
        yield scope, node
        for label, body in bodies(node):
            yield from walk_scopes(body, (*scope, node.name or "", label))


def walk_graphs(graph: ir.Graph) -> Iterator[ir.Graph]:
    """Yields the graph and every graph nested in it, outermost first."""
    yield graph
    for node in graph:
        for _, body in bodies(node):
            yield from walk_graphs(body)
