"""Ends: which source tensor a kernel writes when a layout pass has given that tensor a new name.

The form of the kernel tells: a fourth input of a layout Conv is a fused addition, its `activation` attribute a fused
activation; a kernel that writes integers reaches up to a QuantizeLinear; a standard operator ends in itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from core.runtime.claims import Claims, Joined, family
from core.runtime.optimized import QUANTIZED_TYPES, OptimizedNode

LAYOUT_DOMAIN = "com.microsoft.nchwc"


def find_end(claims: Claims, position: int) -> None:
    """Says what a kernel's renamed outputs stand for and claims the layers up to there; open where its form is mute."""
    entry = claims.entries[position]
    unknown = [key for key in entry.node.outputs if key and key not in claims.stands_for]
    if not unknown or (entry.nameless and _continues(claims, unknown)):
        return
    last = _last_named(claims, entry)
    if last is None:
        entry.open_end = True
        return
    written = claims.source(_extend(claims, position, last)).outputs
    for index, key in enumerate(entry.node.outputs):
        if key in unknown and index < len(written):
            claims.stands_for[key] = written[index]


def _continues(claims: Claims, keys: Iterable[str]) -> bool:
    """Whether another nameless kernel reads on."""
    readers = (claims.entries[reader] for key in keys for reader in claims.readers.get(key, ()))
    return any(not reader.claims and not reader.moving for reader in readers)


def _last_named(claims: Claims, entry: Joined) -> int | None:
    """The layer whose tensor a kernel writes before what its form adds; None where its form does not tell."""
    named = claims.tagged.named_value(entry.node.name)
    if named is not None:
        return claims.tagged.producers[named]
    ends = [tag for tag in entry.claims if not any(after in entry.claims for after in claims.tagged.after(tag))]
    if len(ends) != 1:
        return None
    told = claims.implements_itself(entry) or _writes_quantized(entry.node)
    return ends[0] if told or not claims.tagged.tags_in(entry.node.name) else None


def _extend(claims: Claims, position: int, last: int) -> int:
    node = claims.entries[position].node
    if node.domain == LAYOUT_DOMAIN and family(node.op_type) == "Conv":
        return _extend_layout_conv(claims, position, last)
    if _writes_quantized(node) and claims.source(last).op_type != "QuantizeLinear":
        return _extend_to_quantize(claims, position, last)
    return last


def _extend_layout_conv(claims: Claims, position: int, last: int) -> int:
    entry = claims.entries[position]
    inside = {claims.source(tag).op_type for tag in entry.claims}
    has_sum = len(entry.node.inputs) > 3 and bool(entry.node.inputs[3])
    if has_sum and not any(_adds_two(claims, tag) for tag in entry.claims):
        last = _take_next(claims, position, last, ("Add", "Sum"))
    if entry.node.activation and entry.node.activation not in inside:
        last = _take_next(claims, position, last, (entry.node.activation,))
    return last


def _adds_two(claims: Claims, tag: int) -> bool:
    """Whether this is an addition of two tensors that are both known only at run time."""
    node = claims.source(tag)
    fed = sum(name in claims.tagged.fed for name in node.inputs)
    computed = sum(claims.source(before).computed for before in claims.tagged.before(tag))
    return node.op_type in ("Add", "Sum") and fed + computed > 1


def _take_next(claims: Claims, position: int, last: int, op_types: tuple[str, ...]) -> int:
    follower = _only_reader(claims, last)
    if follower is None or claims.source(follower).op_type not in op_types:
        return last
    claims.claim(position, [follower])
    return follower


def _extend_to_quantize(claims: Claims, position: int, last: int) -> int:
    chain: list[int] = []
    follower = _only_reader(claims, last)
    while follower is not None:
        chain.append(follower)
        if claims.source(follower).op_type == "QuantizeLinear":
            claims.claim(position, chain)
            return follower
        follower = _only_reader(claims, follower)
    return last


def _only_reader(claims: Claims, tag: int) -> int | None:
    """The one source node that reads what this one writes, where nobody claims it yet."""
    if any(name in claims.tagged.exposed for name in claims.source(tag).outputs):
        return None
    readers = claims.tagged.after(tag)
    return readers[0] if len(readers) == 1 and readers[0] not in claims.owner else None


def _writes_quantized(node: OptimizedNode) -> bool:
    return bool(node.output_types) and node.output_types[0] in QUANTIZED_TYPES
