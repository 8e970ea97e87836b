"""Joining: which source layers each node of the optimized graph contains.

Three kinds of evidence, strongest first:

1. *Names.* A tag in a node's own name or in the name of a tensor it writes.
2. *Structure.* A kernel that writes the tensor of layer X and reads the tensors A, B contains every layer between A, B
   and X that no other kernel claims (LayerNormalization out of nine small nodes, a Conv with its batch norm).
3. *Form.* Layout passes give tensors new names. What such a Conv still contains follows from its form: a fourth input
   is a fused addition, an `activation` attribute a fused activation; a quantized kernel reaches up to its
   QuantizeLinear.

Nodes that only move or convert data (ReorderInput, an inserted Transpose or Cast) belong to a bucket and are looked
through: what they read and write is the same source tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.runtime.executed import Bucket
from core.runtime.optimized import QUANTIZED_TYPES, OptimizedNode
from core.runtime.tags import CONTAINERS, VANISHING, SourceNode, TaggedModel

#: What moves or converts data, the bucket it goes to when the source has no such node there, and what it may implement.
_MOVING: Mapping[str, tuple[Bucket, frozenset[str]]] = {
    "ReorderInput": ("reorder", frozenset()),
    "ReorderOutput": ("reorder", frozenset({"Transpose"})),
    "Transpose": ("reorder", frozenset({"Transpose", "DepthToSpace", "SpaceToDepth"})),
    "Reshape": ("reorder", frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})),
    "Cast": ("cast", frozenset({"Cast", "CastLike"})),
    "QuantizeLinear": ("quantize", frozenset({"QuantizeLinear"})),
    "DequantizeLinear": ("quantize", frozenset({"DequantizeLinear"})),
    "MemcpyToHost": ("copy", frozenset()),
    "MemcpyFromHost": ("copy", frozenset()),
}

#: Never the end of a fused kernel: they vanish, or start the next one.
_STARTING = VANISHING | {"DequantizeLinear", "Shape"}

_FAMILIES = ("ConvTranspose", "Conv", "MatMul", "Gemm", "LSTM", "GRU", "RNN")
_LAYOUT_DOMAIN = "com.microsoft.nchwc"


@dataclass(slots=True)
class Joined:
    """What was found for one optimized node: source tags, or a bucket."""

    node: OptimizedNode
    claims: dict[int, None] = field(default_factory=dict)
    moving: Bucket | None = None
    open_end: bool = False
    nameless: bool = False


def join(tagged: TaggedModel, nodes: Sequence[OptimizedNode]) -> tuple[Joined, ...]:
    """Finds for every optimized node the tags of the source nodes it contains (in order of `nodes`)."""
    work = _Join(tagged, nodes)
    work.read_names()
    work.look_through_backward()
    work.claim_written()
    work.claim_anchors()
    for position in range(len(nodes)):
        work.place(position)
    work.claim_open_ends()
    work.claim_decomposed()
    return tuple(work.entries)


def family(op_type: str) -> str | None:
    """The arithmetic an operator is about, through its fused and quantized forms ("QLinearConv" -> "Conv")."""
    found = next((name for name in _FAMILIES if name in op_type), None)
    return "MatMul" if found == "Gemm" else found


class _Join:
    """The state of one join: who claims which source node, and which source tensor each optimized tensor stands for."""

    def __init__(self, tagged: TaggedModel, nodes: Sequence[OptimizedNode]) -> None:
        self.tagged = tagged
        self.entries = [Joined(node) for node in nodes]
        self.claimed: dict[int, int] = {}
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
        return self.tagged.nodes[tag]

    # names

    def read_names(self) -> None:
        """Claims by tags in names; nodes that only move data are set aside."""
        for position, entry in enumerate(self.entries):
            tags = self._named_tags(entry.node)
            entry.moving = self._moving_bucket(entry.node, tags)
            if entry.moving is None:
                self._claim(position, tags)

    def _named_tags(self, node: OptimizedNode) -> tuple[int, ...]:
        tags = dict.fromkeys(self.tagged.tags_in(node.name))
        for key in filter(None, node.outputs):
            tags.update(dict.fromkeys(self.tagged.tags_in(key)))
        hollow = VANISHING if node.op_type in CONTAINERS else VANISHING | CONTAINERS
        working = [tag for tag in tags if self.source(tag).op_type not in hollow]
        return tuple(working or tags)

    def _moving_bucket(self, node: OptimizedNode, tags: Iterable[int]) -> Bucket | None:
        if node.op_type not in _MOVING:
            return None
        bucket, implements = _MOVING[node.op_type]
        return None if any(self.source(tag).op_type in implements for tag in tags) else bucket

    def _claim(self, position: int, tags: Iterable[int]) -> None:
        for tag in tags:
            self.entries[position].claims[tag] = None
            self.claimed.setdefault(tag, position)

    # structure

    def look_through_backward(self) -> None:
        """What a moving node writes under a known name, it also reads."""
        for entry in reversed(self.entries):
            if entry.moving and entry.node.outputs and entry.node.data_inputs:
                value = self.stands_for.get(entry.node.outputs[0])
                if value is not None:
                    self.stands_for.setdefault(entry.node.data_inputs[0], value)

    def claim_written(self) -> None:
        """A node whose tensor stands for that of an unclaimed layer ends in that layer."""
        for position, entry in enumerate(self.entries):
            if entry.moving:
                continue
            values = (self.stands_for.get(key) for key in entry.node.outputs)
            tags = (self.tagged.producers.get(value) for value in values if value is not None)
            self._claim(position, [tag for tag in tags if tag is not None and tag not in self.claimed])

    def claim_anchors(self) -> None:
        """A Conv kernel known only by its activation or batch norm also claims the Conv before them."""
        for position, entry in enumerate(self.entries):
            kind = family(entry.node.op_type)
            if kind and entry.claims and not any(family(self.source(tag).op_type) == kind for tag in entry.claims):
                self._claim(position, self._path_to_anchor(entry, kind))

    def _path_to_anchor(self, entry: Joined, kind: str) -> list[int]:
        came_from: dict[int, int | None] = dict.fromkeys(entry.claims)
        queue = list(entry.claims)
        for tag in queue:
            for before in self._producers_of(tag):
                if before in came_from or before in self.claimed:
                    continue
                came_from[before] = tag
                if family(self.source(before).op_type) == kind:
                    return _trace(came_from, before)
                queue.append(before)
        return []

    def _producers_of(self, tag: int) -> list[int]:
        found = (self.tagged.producers.get(name) for name in self.source(tag).inputs)
        return [before for before in found if before is not None]

    def place(self, position: int) -> None:
        """Completes one node, given that all nodes before it are complete: its inner layers, and where it ends."""
        entry = self.entries[position]
        node = entry.node
        if entry.moving and not (node.channels_last and self._claim_transpose(position)):
            self._look_through(node)
        if entry.moving:
            return
        reads = [self.stands_for.get(key) for key in node.data_inputs]
        if not entry.claims:
            entry.nameless = True
            self._claim(position, self._between(position, reads) or self._same_piece(node))
        elif not self._is_plain(entry) and None not in reads:
            self._claim(position, self._closure(entry, {value for value in reads if value}))
        self._find_end(position)

    def _claim_transpose(self, position: int) -> bool:
        """A ReorderInput from channels-last does what a Transpose of the source did."""
        entry = self.entries[position]
        value = self.stands_for.get(entry.node.inputs[0], "")
        for tag in self.tagged.consumers.get(value, ()):
            if tag not in self.claimed and self.source(tag).op_type == "Transpose":
                entry.moving = None
                self._claim(position, [tag])
                self.stands_for[entry.node.outputs[0]] = self.source(tag).outputs[0]
                return True
        return False

    def _look_through(self, node: OptimizedNode) -> None:
        if node.outputs and node.data_inputs and node.data_inputs[0] in self.stands_for:
            self.stands_for.setdefault(node.outputs[0], self.stands_for[node.data_inputs[0]])

    def _is_plain(self, entry: Joined) -> bool:
        """Whether the kernel is the source's own operator, which contains nothing else."""
        node = entry.node
        if node.domain not in ("", "ai.onnx") or family(node.op_type):
            return False
        return any(self.source(tag).op_type == node.op_type for tag in entry.claims)

    def _closure(self, entry: Joined, stops: set[str]) -> list[int]:
        """Unclaimed source nodes between the tensors a kernel reads and the layers it is known to contain."""
        quantized = any(name in QUANTIZED_TYPES for name in entry.node.input_types)
        found: dict[int, None] = {}
        queue = list(entry.claims)
        for tag in queue:
            for name in self.source(tag).inputs:
                before = self.tagged.producers.get(name)
                if name in stops or before is None or before in self.claimed or before in found:
                    continue
                if not self.source(before).computed and not (quantized and self._dequantizes(before)):
                    continue
                found[before] = None
                queue.append(before)
        return list(found)

    def _dequantizes(self, tag: int) -> bool:
        return self.source(tag).op_type == "DequantizeLinear"

    def _between(self, position: int, reads: list[str | None]) -> list[int]:
        """Unclaimed source nodes between what a nameless kernel reads and the next kernels that have a name."""
        stops = {value for value in reads if value is not None}
        if not stops:
            return []
        found: dict[int, None] = {}
        queue = self._next_claims(position)
        for tag in queue:
            for name in self.source(tag).inputs:
                before = self.tagged.producers.get(name)
                if name in stops or before is None or before in self.claimed or before in found:
                    continue
                if self.source(before).computed:
                    found[before] = None
                    queue.append(before)
        reached = self._behind(stops)
        return sorted(tag for tag in found if tag in reached)

    def _same_piece(self, node: OptimizedNode) -> list[int]:
        """The layers of the nameless kernels that feed this one: an operator that the runtime wrote out as several."""
        unknown = [key for key in node.data_inputs if key not in self.stands_for]
        before = [self.entries[self.writer[key]] for key in unknown if key in self.writer]
        return list(dict.fromkeys(tag for other in before if other.nameless for tag in other.claims))

    def _behind(self, values: set[str]) -> set[int]:
        """Unclaimed source nodes that depend on these tensors through unclaimed nodes only."""
        found: set[int] = set()
        queue = list(values)
        for name in queue:
            for tag in self.tagged.consumers.get(name, ()):
                if tag not in self.claimed and tag not in found:
                    found.add(tag)
                    queue.extend(self.source(tag).outputs)
        return found

    def _next_claims(self, position: int) -> list[int]:
        found: dict[int, None] = {}
        queue, seen = [position], {position}
        for here in queue:
            for key in filter(None, self.entries[here].node.outputs):
                value = self.stands_for.get(key)
                if value is not None and value in self.tagged.producers:
                    found[self.tagged.producers[value]] = None
                for reader in self.readers.get(key, ()):
                    found.update(self.entries[reader].claims)
                    if not self.entries[reader].claims and reader not in seen:
                        seen.add(reader)
                        queue.append(reader)
        return list(found)

    # form

    def _find_end(self, position: int) -> None:
        """Says which source tensor a nameless output stands for; the node is left open where that is unknown."""
        entry = self.entries[position]
        unknown = [key for key in entry.node.outputs if key and key not in self.stands_for]
        if not unknown:
            return
        if entry.nameless and self._continues(unknown):
            return
        last = self._last_layer(entry)
        if last is None:
            entry.open_end = True
            return
        last = self._extend(position, last)
        written = self.source(last).outputs
        for index, key in enumerate(entry.node.outputs):
            if key in unknown and index < len(written):
                self.stands_for[key] = written[index]

    def _continues(self, keys: Iterable[str]) -> bool:
        """Whether another nameless kernel reads on."""
        readers = (self.entries[reader] for key in keys for reader in self.readers.get(key, ()))
        return any(not reader.claims and not reader.moving for reader in readers)

    def _last_layer(self, entry: Joined) -> int | None:
        """The layer whose tensor a node writes before what its form adds; None where its form does not tell."""
        named = self.tagged.named_value(entry.node.name)
        if named is not None:
            return self.tagged.producers[named]
        ends = [tag for tag in entry.claims if not self._feeds(tag, entry.claims)]
        if len(ends) != 1:
            return None
        known_form = self._is_plain(entry) or _writes_quantized(entry.node) or not self.tagged.tags_in(entry.node.name)
        return ends[0] if known_form else None

    def _feeds(self, tag: int, claims: Mapping[int, None]) -> bool:
        readers = (reader for name in self.source(tag).outputs for reader in self.tagged.consumers.get(name, ()))
        return any(reader in claims for reader in readers)

    def _extend(self, position: int, last: int) -> int:
        node = self.entries[position].node
        if node.domain == _LAYOUT_DOMAIN and family(node.op_type) == "Conv":
            return self._extend_layout_conv(position, last)
        if _writes_quantized(node) and self.source(last).op_type != "QuantizeLinear":
            return self._extend_to_quantize(position, last)
        return last

    def _extend_layout_conv(self, position: int, last: int) -> int:
        entry = self.entries[position]
        inside = {self.source(tag).op_type for tag in entry.claims}
        has_sum = len(entry.node.inputs) > 3 and bool(entry.node.inputs[3])
        if has_sum and not any(self._adds_two(tag) for tag in entry.claims):
            last = self._take_next(position, last, "Add")
        if entry.node.activation and entry.node.activation not in inside:
            last = self._take_next(position, last, entry.node.activation)
        return last

    def _adds_two(self, tag: int) -> bool:
        node = self.source(tag)
        if node.op_type not in ("Add", "Sum"):
            return False
        producers = self._producers_of(tag)
        fed = sum(name in self.tagged.fed for name in node.inputs)
        return fed + sum(self.source(before).computed for before in producers) > 1

    def _take_next(self, position: int, last: int, op_type: str) -> int:
        follower = self._only_reader(last)
        if follower is None or self.source(follower).op_type != op_type:
            return last
        self._claim(position, [follower])
        return follower

    def _extend_to_quantize(self, position: int, last: int) -> int:
        chain: list[int] = []
        follower = self._only_reader(last)
        while follower is not None:
            chain.append(follower)
            if self.source(follower).op_type == "QuantizeLinear":
                self._claim(position, chain)
                return follower
            follower = self._only_reader(follower)
        return last

    def _only_reader(self, tag: int) -> int | None:
        written = self.source(tag).outputs
        readers = [reader for name in written for reader in self.tagged.consumers.get(name, ())]
        if any(name in self.tagged.exposed for name in written):
            return None
        return readers[0] if len(readers) == 1 and readers[0] not in self.claimed else None

    # what is left

    def claim_open_ends(self) -> None:
        """Unclaimed layers go to the kernel before them where that kernel's end is unknown."""
        for node in self.tagged.nodes:
            if node.tag in self.claimed or not node.computed or node.op_type in _STARTING:
                continue
            before = [tag for tag in self._producers_of(node.tag) if self.source(tag).op_type != "QuantizeLinear"]
            owners = [self.claimed[tag] for tag in before if tag in self.claimed]
            if owners and self.entries[max(owners)].open_end:
                self._claim(max(owners), [node.tag])

    def claim_decomposed(self) -> None:
        """Nameless nodes before one that is but the last piece of an operator written out belong to that operator."""
        for entry in reversed(self.entries):
            if entry.claims or entry.moving:
                continue
            for key in filter(None, entry.node.outputs):
                for reader in self.readers.get(key, ()):
                    if self._is_last_piece(self.entries[reader]):
                        entry.claims.update(self.entries[reader].claims)

    def _is_last_piece(self, entry: Joined) -> bool:
        return not any(self.source(tag).op_type in entry.node.op_type for tag in entry.claims)


def _writes_quantized(node: OptimizedNode) -> bool:
    return bool(node.output_types) and node.output_types[0] in QUANTIZED_TYPES


def _trace(came_from: Mapping[int, int | None], tag: int) -> list[int]:
    path: list[int] = []
    step: int | None = tag
    while step is not None:
        path.append(step)
        step = came_from[step]
    return path
