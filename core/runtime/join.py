"""Joining: which source layers each node of the optimized graph contains.

Three kinds of evidence, strongest first:

1. *Names.* A tag in a node's own name or in the name of a tensor it writes.
2. *Structure.* A kernel that writes the tensor of layer X and reads the tensors A, B contains every layer between A, B
   and X that no other kernel claims (LayerNormalization out of nine small nodes, a Conv with its batch norm).
3. *Form.* Layout passes rename tensors; what such a kernel still contains follows from its form (see `ends`).

Nodes that only move or convert data (ReorderInput, an inserted Transpose or Cast) belong to a bucket and are looked
through: what they read and write is the same source tensor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from core.runtime.claims import Claims, Joined, family
from core.runtime.ends import find_end
from core.runtime.executed import Bucket
from core.runtime.optimized import QUANTIZED_TYPES, OptimizedNode
from core.runtime.tags import CONTAINERS, VANISHING, TaggedModel

#: What moves or converts data: its bucket, and the source operators whose work it may be instead.
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


def join(tagged: TaggedModel, nodes: Sequence[OptimizedNode]) -> tuple[Joined, ...]:
    """Finds for every optimized node the tags of the source nodes it contains (in order of `nodes`)."""
    claims = Claims(tagged, nodes)
    _read_names(claims)
    _look_through_backward(claims)
    _claim_written(claims)
    _claim_anchors(claims)
    for position in range(len(nodes)):
        _place(claims, position)
    _claim_open_ends(claims)
    _claim_pieces(claims)
    return tuple(claims.entries)


# names


def _read_names(claims: Claims) -> None:
    """Claims by tags in names; nodes that only move data are set aside."""
    for position, entry in enumerate(claims.entries):
        tags = _named_tags(claims, entry.node)
        entry.moving = _moving_bucket(claims, entry.node, tags)
        if entry.moving is None:
            claims.claim(position, tags)


def _named_tags(claims: Claims, node: OptimizedNode) -> tuple[int, ...]:
    tags = dict.fromkeys(claims.tagged.tags_in(node.name))
    for key in filter(None, node.outputs):
        tags.update(dict.fromkeys(claims.tagged.tags_in(key)))
    hollow = VANISHING if node.op_type in CONTAINERS else VANISHING | CONTAINERS
    working = [tag for tag in tags if claims.source(tag).op_type not in hollow]
    return tuple(working or tags)


def _moving_bucket(claims: Claims, node: OptimizedNode, tags: Iterable[int]) -> Bucket | None:
    if node.op_type not in _MOVING:
        return None
    bucket, implements = _MOVING[node.op_type]
    return None if any(claims.source(tag).op_type in implements for tag in tags) else bucket


def _look_through_backward(claims: Claims) -> None:
    """What a moving node writes under a known name, it also reads."""
    for entry in reversed(claims.entries):
        if entry.moving and entry.node.outputs and entry.node.data_inputs:
            value = claims.stands_for.get(entry.node.outputs[0])
            if value is not None:
                claims.stands_for.setdefault(entry.node.data_inputs[0], value)


def _claim_written(claims: Claims) -> None:
    """A node whose tensor stands for that of an unclaimed layer ends in that layer."""
    for position, entry in enumerate(claims.entries):
        if entry.moving:
            continue
        values = (claims.stands_for.get(key, "") for key in entry.node.outputs)
        tags = (claims.tagged.producers.get(value) for value in values)
        claims.claim(position, [tag for tag in tags if tag is not None and tag not in claims.owner])


# structure


def _claim_anchors(claims: Claims) -> None:
    """A Conv kernel known only by its activation or batch norm also claims the Conv before them."""
    for position, entry in enumerate(claims.entries):
        kind = family(entry.node.op_type)
        if kind and entry.claims and not any(family(claims.source(tag).op_type) == kind for tag in entry.claims):
            claims.claim(position, _path_to_anchor(claims, entry, kind))


def _path_to_anchor(claims: Claims, entry: Joined, kind: str) -> list[int]:
    came_from: dict[int, int | None] = dict.fromkeys(entry.claims)
    queue = list(entry.claims)
    for tag in queue:
        for before in claims.tagged.before(tag):
            if before in came_from or before in claims.owner:
                continue
            came_from[before] = tag
            if family(claims.source(before).op_type) == kind:
                return _trace(came_from, before)
            queue.append(before)
    return []


def _trace(came_from: Mapping[int, int | None], tag: int) -> list[int]:
    path: list[int] = []
    step: int | None = tag
    while step is not None:
        path.append(step)
        step = came_from[step]
    return path


def _place(claims: Claims, position: int) -> None:
    """Completes one node, given that all nodes before it are complete: its inner layers, and where it ends."""
    entry = claims.entries[position]
    node = entry.node
    if entry.moving:
        if not (node.channels_last and _claim_transpose(claims, position)):
            _look_through(claims, node)
        return
    reads = [claims.stands_for.get(key) for key in node.data_inputs]
    if not entry.claims:
        entry.nameless = True
        known = {value for value in reads if value is not None}
        claims.claim(position, _between(claims, position, known) or _same_piece(claims, node))
    elif not claims.implements_itself(entry) and None not in reads:
        claims.claim(position, _closure(claims, entry, {value for value in reads if value is not None}))
    find_end(claims, position)


def _look_through(claims: Claims, node: OptimizedNode) -> None:
    if node.outputs and node.data_inputs and node.data_inputs[0] in claims.stands_for:
        claims.stands_for.setdefault(node.outputs[0], claims.stands_for[node.data_inputs[0]])


def _claim_transpose(claims: Claims, position: int) -> bool:
    """A ReorderInput from channels-last does what a Transpose of the source did."""
    entry = claims.entries[position]
    value = claims.stands_for.get(entry.node.inputs[0], "")
    for tag in claims.tagged.consumers.get(value, ()):
        if tag not in claims.owner and claims.source(tag).op_type == "Transpose":
            entry.moving = None
            claims.claim(position, [tag])
            claims.stands_for[entry.node.outputs[0]] = claims.source(tag).outputs[0]
            return True
    return False


def _closure(claims: Claims, entry: Joined, stops: set[str]) -> list[int]:
    """Unclaimed source nodes between the tensors a kernel reads and the layers it is known to contain."""
    quantized = any(name in QUANTIZED_TYPES for name in entry.node.input_types)
    found: dict[int, None] = {}
    queue = list(entry.claims)
    for tag in queue:
        for before in _unclaimed_before(claims, tag, stops):
            node = claims.source(before)
            if before not in found and (node.computed or (quantized and node.op_type == "DequantizeLinear")):
                found[before] = None
                queue.append(before)
    return list(found)


def _unclaimed_before(claims: Claims, tag: int, stops: set[str]) -> list[int]:
    names = (name for name in claims.source(tag).inputs if name not in stops)
    producers = (claims.tagged.producers.get(name) for name in names)
    return [before for before in producers if before is not None and before not in claims.owner]


def _between(claims: Claims, position: int, stops: set[str]) -> list[int]:
    """Unclaimed source nodes between what a nameless kernel reads and the next kernels that have a name."""
    if not stops:
        return []
    found: dict[int, None] = {}
    queue = _next_claims(claims, position)
    for tag in queue:
        for before in _unclaimed_before(claims, tag, stops):
            if before not in found and claims.source(before).computed:
                found[before] = None
                queue.append(before)
    reached = _behind(claims, stops)
    return sorted(tag for tag in found if tag in reached)


def _behind(claims: Claims, values: set[str]) -> set[int]:
    """Unclaimed source nodes that depend on these tensors through unclaimed nodes only."""
    found: set[int] = set()
    queue = list(values)
    for name in queue:
        for tag in claims.tagged.consumers.get(name, ()):
            if tag not in claims.owner and tag not in found:
                found.add(tag)
                queue.extend(claims.source(tag).outputs)
    return found


def _next_claims(claims: Claims, position: int) -> list[int]:
    """Tags of the nearest named kernels and tensors after a nameless one."""
    found: dict[int, None] = {}
    queue, seen = [position], {position}
    for here in queue:
        for key in filter(None, claims.entries[here].node.outputs):
            value = claims.stands_for.get(key, "")
            if value in claims.tagged.producers:
                found[claims.tagged.producers[value]] = None
            for reader in claims.readers.get(key, ()):
                found.update(claims.entries[reader].claims)
                if not claims.entries[reader].claims and reader not in seen:
                    seen.add(reader)
                    queue.append(reader)
    return list(found)


def _same_piece(claims: Claims, node: OptimizedNode) -> list[int]:
    """The layers of the nameless kernels that feed this one: an operator that the runtime wrote out as several."""
    unknown = [key for key in node.data_inputs if key not in claims.stands_for]
    before = [claims.entries[claims.writer[key]] for key in unknown if key in claims.writer]
    return list(dict.fromkeys(tag for other in before if other.nameless for tag in other.claims))


# what is left


def _claim_open_ends(claims: Claims) -> None:
    """Unclaimed layers go to the kernel before them where that kernel's end is unknown."""
    for node in claims.tagged.nodes:
        if node.tag in claims.owner or not node.computed or node.op_type in _STARTING:
            continue
        before = [tag for tag in claims.tagged.before(node.tag) if claims.source(tag).op_type != "QuantizeLinear"]
        owners = [claims.owner[tag] for tag in before if tag in claims.owner]
        if owners and claims.entries[max(owners)].open_end:
            claims.claim(max(owners), [node.tag])


def _claim_pieces(claims: Claims) -> None:
    """Nameless nodes before one that is but the last piece of an operator written out belong to that operator."""
    for entry in reversed(claims.entries):
        if entry.claims or entry.moving:
            continue
        for key in filter(None, entry.node.outputs):
            for reader in claims.readers.get(key, ()):
                other = claims.entries[reader]
                if not any(claims.source(tag).op_type in other.node.op_type for tag in other.claims):
                    entry.claims.update(other.claims)
