"""Cutting a model behind one of its layers: what is left ends in the tensors that the removed layers would read."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from core.graph.identity import walk
from core.intake.model import Serialized, serialize
from core.intake.scopes import is_constant


@dataclass(frozen=True, slots=True)
class Cut:
    """A shortened model: the last layer that stays, the ids of those removed, and how many tensors cross the border."""

    behind: str
    removed: frozenset[str]
    crossing: int
    model: Serialized


def cut_behind(model: ir.Model, position: int) -> Cut:
    """Keeps the first `position` + 1 nodes of the main graph; the tensors that later ones read become its outputs."""
    copy = model.clone()
    nodes = [node for node in copy.graph if not is_constant(node)]
    kept = set(nodes[: position + 1])
    removed = nodes[position + 1 :]
    border = _border(copy, kept)
    ids = {id(found.node): found.id for found in walk(copy)}
    scopes = {found.scope[0] for found in walk(copy) if found.scope}
    gone = {ids[id(node)] for node in removed}
    inside = {found.id for found in walk(copy) if found.scope and found.scope[0] in gone & scopes}
    behind = ids[id(nodes[position])]
    copy.graph.outputs.clear()
    copy.graph.outputs.extend(border)
    copy.graph.remove(removed, safe=False)
    return Cut(behind, frozenset(gone | inside), len(border), serialize(copy))


def crossings(model: ir.Model) -> list[int]:
    """For each node of the main graph, how many tensors cross the border behind it."""
    nodes = [node for node in model.graph if not is_constant(node)]
    return [len(_border(model, set(nodes[: position + 1]))) for position in range(len(nodes))]


def _border(model: ir.Model, kept: set[ir.Node]) -> list[ir.Value]:
    """Values that kept nodes write and others read, or that leave the model; bodies read values from outside."""
    found: dict[int, ir.Value] = {}
    inner = {id(used) for node in kept for used in _nested(node)}
    for node in model.graph:
        if node not in kept:
            continue
        for value in node.outputs:
            readers = [use.node for use in value.uses()]
            outside = any(reader not in kept and id(reader) not in inner for reader in readers)
            if outside or value.is_graph_output():
                found[id(value)] = value
    return list(found.values())


def _nested(node: ir.Node) -> list[ir.Node]:
    bodies = [
        attribute.as_graph() for attribute in node.attributes.values() if attribute.type == ir.AttributeType.GRAPH
    ]
    return [inner for body in bodies for inner in body.all_nodes()]
