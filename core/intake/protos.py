"""Protos: walking a parsed file before it becomes a graph object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx


def nodes_of(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.NodeProto]:
    """Yields nodes and all those in their sub-graphs."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from nodes_of(graph.node)


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yields the graphs that a node holds."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == onnx.AttributeProto.GRAPHS:
            yield from attribute.graphs


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yields a graph and every graph nested in it."""
    yield graph
    for node in graph.node:
        for body in subgraphs(node):
            yield from graphs_of(body)


def tensors_of(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """Yields every stored tensor: weights and those in attributes, sub-graphs included."""
    for inner in graphs_of(graph):
        yield from inner.initializer
        for node in inner.node:
            yield from tensors_in(node)


def tensors_in(node: onnx.NodeProto) -> Iterator[onnx.TensorProto]:
    """Yields the tensors in a node's own attributes."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.TENSOR:
            yield attribute.t
        elif attribute.type == onnx.AttributeProto.TENSORS:
            yield from attribute.tensors


def describe(node: onnx.NodeProto) -> str:
    """A node as the user may find it: its name and operator."""
    return (
        f"'{node.name}' ({node.op_type})"
        if node.name
        else f"{node.op_type} that writes '{next(iter(node.output), '')}'"
    )
