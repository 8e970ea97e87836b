"""Claims: what a join knows while it runs: who contains which source node, what each optimized tensor stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from core.runtime.executed import Bucket
from core.runtime.optimized import OptimizedNode
from core.runtime.tags import SourceNode, TaggedModel

_FAMILIES = ("ConvTranspose", "Conv", "MatMul", "Gemm", "LSTM", "GRU", "RNN")


@dataclass(slots=True)
class Joined:
    """What was found for one optimized node: the tags of the source nodes in it, or a bucket (`moving`).

    `nameless`: no name told what it is. `open_end`: it may go on beyond the layers found so far.
    """

    node: OptimizedNode
    claims: dict[int, None] = field(default_factory=dict)
    moving: Bucket | None = None
    nameless: bool = False
    open_end: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the kernel is a standard operator without arithmetic that fuses: it contains nothing but itself."""
        return self.node.domain in ("", "ai.onnx") and family(self.node.op_type) is None


class Claims:
    """The state of one join. `entries` follow the optimized nodes; `owner` is the first entry that claims a tag."""

    def __init__(self, tagged: TaggedModel, nodes: Sequence[OptimizedNode]) -> None:
        self.tagged = tagged
        self.entries = [Joined(node) for node in nodes]
        self.owner: dict[int, int] = {}
        self.stands_for: dict[str, str] = {}
        self.readers: dict[str, list[int]] = {}
        self.writer: dict[str, int] = {}
        for position, node in enumerate(nodes):
            for key in filter(None, node.inputs):
                self.readers.setdefault(key, []).append(position)
            self.writer.update(dict.fromkeys(filter(None, node.outputs), position))
            for key in filter(None, (*node.inputs, *node.outputs)):
                value = tagged.value(key)
                if value is not None:
                    self.stands_for[key] = value

    def source(self, tag: int) -> SourceNode:
        """The source node of that tag."""
        return self.tagged.nodes[tag]

    def claim(self, position: int, tags: Iterable[int]) -> None:
        """Says that an optimized node contains these source nodes."""
        for tag in tags:
            self.entries[position].claims[tag] = None
            self.owner.setdefault(tag, position)

    def implements_itself(self, entry: Joined) -> bool:
        """Whether the kernel is one of its source nodes as it stands."""
        return entry.is_plain and any(self.source(tag).op_type == entry.node.op_type for tag in entry.claims)


def family(op_type: str) -> str | None:
    """The arithmetic an operator is about, through its fused and quantized forms ("QLinearConv" -> "Conv")."""
    found = next((name for name in _FAMILIES if name in op_type), None)
    return "MatMul" if found == "Gemm" else found
