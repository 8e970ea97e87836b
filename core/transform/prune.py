"""Pruning: stored weights that nothing reads any more leave the file, with what turned or scaled them."""

from __future__ import annotations

import onnx_ir as ir

from core.graph.constants import is_constant_value
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
    """A Constant, or what reshapes or scales stored values, that nobody reads."""
    if any(output.uses() or output.is_graph_output() for output in node.outputs):
        return False
    return is_constant(node) or all(is_constant_value(output) for output in node.outputs)
