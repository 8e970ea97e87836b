"""What the runtime made of a model: the nodes of its optimized graph, each joined to the source layers it contains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Bucket = Literal["reorder", "quantize", "cast", "copy", "unattributed"]


@dataclass(frozen=True, slots=True)
class ExecutedNode:
    """One node of the optimized graph.

    `layers` are the ids of the source layers fused into it (empty: it belongs to no layer and `bucket` says what it
    is). `element_types` are the numpy names of its data inputs (those computed or fed at run time, in order), then of
    its outputs; "" where unknown. `scope` is the path of containers in the optimized graph. `reads` and `writes` are
    keys of the numbers that it takes and gives at run time (floating point and 8-bit integers, no shapes or indices);
    `ends` says whether one of those it reads is an input of the graph, or nobody reads what it writes.
    `stored_bytes` is the size of its stored inputs.
    """

    name: str
    op_type: str
    domain: str
    scope: tuple[str, ...]
    layers: tuple[str, ...]
    bucket: Bucket | None
    element_types: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    ends: bool = False
    stored_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ExecutedGraph:
    """All nodes of an optimized graph, sub-graphs included; names are unique."""

    nodes: tuple[ExecutedNode, ...]

    def of_layer(self, layer_id: str) -> tuple[ExecutedNode, ...]:
        """The executed nodes that contain this layer; empty where it was folded away."""
        return tuple(node for node in self.nodes if layer_id in node.layers)
