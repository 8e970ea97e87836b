"""Pruning: stored weights that nothing reads any more leave the file; nothing that was there unread is touched."""

from __future__ import annotations

import onnx_ir as ir

from core.intake.scopes import is_constant, walk_graphs


def drop_unused_constants(model: ir.Model) -> None:
    """Removes initializers and `Constant` nodes without readers (graph inputs and outputs stay)."""
    while _drop_once(model):
        pass


def _drop_once(model: ir.Model) -> bool:
    dropped = False
    for graph in list(walk_graphs(model.graph)):
        for name, value in list(graph.initializers.items()):
            if not value.uses() and not value.is_graph_output() and not value.is_graph_input():
                del graph.initializers[name]
                dropped = True
        for node in list(graph):
            if _is_dead(node):
                graph.remove(node, safe=True)
                dropped = True
    return dropped


def _is_dead(node: ir.Node) -> bool:
    """A Constant, or an Identity of stored values, that nobody reads."""
    forwards = node.op_type == "Identity" and node.domain == ""
    return (is_constant(node) or forwards) and not any(
        output.uses() or output.is_graph_output() for output in node.outputs
    )
