"""Structure: whether every value is written once, before it is read, and none in a circle."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import onnx

from core.errors import did_you_mean
from core.intake.model import Finding
from core.intake.protos import describe, graphs_of, subgraphs

_BROKEN = "The file is broken; export the model again."


def check_structure(graph: onnx.GraphProto, outer: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """Yields an error for each value that is written twice, read but never written, or part of a circle."""
    given = {value.name for value in graph.input} | _weights(graph)
    written: dict[str, onnx.NodeProto] = {}
    for node in graph.node:
        for name in filter(None, node.output):
            if name in written or name in given:
                yield Finding(
                    "error", f"The value '{name}' is written twice, at last by node {describe(node)}.", _BROKEN
                )
            written[name] = node
    visible = outer | given | written.keys()
    for node in graph.node:
        for name in filter(None, node.input):
            if name not in visible:
                message = f"Node {describe(node)} reads '{name}', which nothing writes.{did_you_mean(name, visible)}"
                yield Finding("error", message, _BROKEN)
        for body in subgraphs(node):
            yield from check_structure(body, visible)
    for value in graph.output:
        if value.name not in visible:
            message = f"Nothing writes the output '{value.name}'.{did_you_mean(value.name, visible)}"
            yield Finding("error", message, _BROKEN)
    stuck = set(range(len(graph.node))) - set(sorted_nodes(graph))
    if stuck:
        first = describe(graph.node[min(stuck)])
        yield Finding("error", f"Node {first} waits for itself: {len(stuck)} nodes are in or behind a cycle.", _BROKEN)


def sort_graphs(graph: onnx.GraphProto) -> int:
    """Puts the nodes of a graph and its sub-graphs in place so that each value is written before it is read.

    Returns:
        How many nodes stood before one that they read from.
    """
    moved = 0
    for inner in graphs_of(graph):
        early = sum(max(sources, default=-1) > position for position, sources in enumerate(_sources(inner)))
        if early:
            moved += early
            order = sorted_nodes(inner)
            nodes = [onnx.NodeProto.FromString(inner.node[position].SerializeToString()) for position in order]
            del inner.node[:]
            inner.node.extend(nodes)
    return moved


def sorted_nodes(graph: onnx.GraphProto) -> list[int]:
    """Positions of the nodes in an order that can be run, as close to the file's as possible; a circle is left out."""
    waits = _sources(graph)
    readers: list[list[int]] = [[] for _ in waits]
    for position, sources in enumerate(waits):
        for source in sources:
            readers[source].append(position)
    missing = [len(sources) for sources in waits]
    ready = [position for position, count in enumerate(missing) if not count]
    order = []
    while ready:
        position = heapq.heappop(ready)
        order.append(position)
        for reader in readers[position]:
            missing[reader] -= 1
            if not missing[reader]:
                heapq.heappush(ready, reader)
    return order


def _sources(graph: onnx.GraphProto) -> list[set[int]]:
    """For each node, the positions of those whose values it or its sub-graphs read."""
    writer = {name: position for position, node in enumerate(graph.node) for name in node.output if name}
    return [{writer[name] for name in _reads(node) if name in writer} for node in graph.node]


def _reads(node: onnx.NodeProto) -> Iterator[str]:
    """What a node reads, and what its sub-graphs take from outside."""
    yield from filter(None, node.input)
    for body in subgraphs(node):
        own = {value.name for value in body.input} | _weights(body)
        own.update(name for inner in body.node for name in inner.output)
        for inner in body.node:
            yield from (name for name in _reads(inner) if name not in own)
        yield from (value.name for value in body.output if value.name not in own)


def _weights(graph: onnx.GraphProto) -> set[str]:
    return {tensor.name for tensor in graph.initializer} | {tensor.values.name for tensor in graph.sparse_initializer}
