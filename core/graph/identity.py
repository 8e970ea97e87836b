"""Identity: every layer of a model with its stable id, in graph order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from core.intake.scopes import Scope, is_constant, layer_id, walk_scopes


@dataclass(frozen=True, slots=True)
class LayerNode:
    """A node of the graph under its layer id; `scope` is the path of its containers ("if_1", "then")."""

    id: str
    scope: Scope
    node: ir.Node


def walk(model: ir.Model) -> Iterator[LayerNode]:
    """Yields the layers of a loaded model: all nodes but `Constant`, sub-graph bodies right after their container.

    The names are those that loading made unique, so a copy of the model walks with the same ids.
    """
    for scope, node in walk_scopes(model.graph):
        if not is_constant(node):
            yield LayerNode(layer_id(scope, node.name or ""), scope, node)
