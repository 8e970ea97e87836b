"""Exposing: making a value inside `If`, `Loop` or `Scan` bodies an output of the whole model.

Each container between the value and the top gets one more output. A branch that does not own the value gives a
constant without elements (or a NaN where the value is a scalar); a loop gives one entry per iteration.
"""

from __future__ import annotations

import itertools

import numpy as np
import onnx_ir as ir

from core.graph.identity import walk
from core.intake.scopes import bodies


def containers(model: ir.Model) -> dict[int, ir.Node]:
    """`id(graph)` -> the node whose body it is; the main graph is absent."""
    return {id(body): found.node for found in walk(model) for _, body in bodies(found.node)}


def expose_scalar(value: ir.Value, graph: ir.Graph, owner: dict[int, ir.Node]) -> str:
    """Makes a float scalar computed in `graph` a model output; returns the name of that output.

    Args:
        value: a float32 scalar, computed by a node of `graph`.
        graph: the graph that owns it.
        owner: as `containers` gives it.
    """
    rank = 0
    for number in itertools.count():
        graph.outputs.append(value)
        if id(graph) not in owner:
            return str(value.name)
        container = owner[id(graph)]
        if container.op_type == "If":
            _fill_other_branch(container, graph, rank, f"{value.name}_absent{number}")
        else:
            rank += 1
            _extend_scan_attributes(container)
        value = _new_output(container, f"{value.name}_{number}", rank)
        graph = _graph_of(container)
    raise AssertionError("unreachable")


def _graph_of(node: ir.Node) -> ir.Graph:
    graph = node.graph
    if not isinstance(graph, ir.Graph):
        raise TypeError(f"the node '{node.name}' is not in a graph")
    return graph


def _new_output(container: ir.Node, name: str, rank: int) -> ir.Value:
    container.resize_outputs(len(container.outputs) + 1)
    output = container.outputs[-1]
    output.name = name
    output.type = ir.TensorType(ir.DataType.FLOAT)
    output.shape = ir.Shape([None] * rank)
    return output


def _fill_other_branch(container: ir.Node, branch: ir.Graph, rank: int, name: str) -> None:
    for _, body in bodies(container):
        if body is not branch:
            absent = np.full((0,) * rank, np.nan, dtype=np.float32)
            node = ir.node("Constant", [], {"value": ir.tensor(absent, name=name)}, name=name)
            node.outputs[0].name = name
            node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
            node.outputs[0].shape = ir.Shape([0] * rank)
            body.append(node)
            body.outputs.append(node.outputs[0])


def _extend_scan_attributes(container: ir.Node) -> None:
    """A Scan that lists axes or directions of its outputs needs one more entry."""
    for name in ("scan_output_axes", "scan_output_directions"):
        attribute = container.attributes.get(name)
        if attribute is not None:
            container.attributes[name] = ir.AttrInt64s(name, [*attribute.as_ints(), 0])
