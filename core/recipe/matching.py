"""Matching: which layer of one model is which of another; by name, else by structure where that is unambiguous.

A renamed layer has the same operator and as many weights as before. It is matched where it is the only one of its kind
that has no match yet, or where everything between two known layers is as it was. Layers that could be exchanged are
left alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from core.recipe.structure import Place, Structure

#: A match makes new neighbours known, which may settle others in turn.
_MOST_ROUNDS = 50


def match_layers(source: Structure, target: Structure) -> dict[str, str]:
    """Source id -> target id, for every layer that can be told; the same names come first."""
    known = {place.id for place in target}
    matched = {place.id: place.id for place in source if place.id in known}
    for _ in range(_MOST_ROUNDS):
        found = dict(_between_known(source.places, target.places, matched)) or _only_ones(source, target, matched)
        if not found:
            break
        matched |= found
    return matched


def _between_known(
    source: Sequence[Place], target: Sequence[Place], matched: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Pairs from stretches without a match that are the same on either side, from one known layer to the next."""
    index = {place.id: number for number, place in enumerate(target)}
    taken = sorted(index[name] for name in matched.values())
    following = dict(zip([-1, *taken], [*taken, len(target)], strict=True))
    stretch: list[Place] = []
    start = -1  # of the target's stretch: the known layer before it
    for place in (*source, None):
        if place is not None and place.id not in matched:
            stretch.append(place)
            continue
        end = len(target) if place is None else index[matched[place.id]]
        free = target[start + 1 : end]
        if following[start] == end and [one.signature for one in stretch] == [one.signature for one in free]:
            yield from ((old.id, new.id) for old, new in zip(stretch, free, strict=True))
        stretch, start = [], end


def _only_ones(source: Structure, target: Structure, matched: Mapping[str, str]) -> dict[str, str]:
    """Pairs of layers that are the only ones of their kind without a match, on either side."""
    taken = set(matched.values())
    old = _alone([place for place in source if place.id not in matched])
    new = _alone([place for place in target if place.id not in taken])
    return {old[signature]: new[signature] for signature in old.keys() & new.keys()}


def _alone(places: Sequence[Place]) -> dict[tuple[str, int | None], str]:
    counts = Counter(place.signature for place in places)
    return {place.signature: place.id for place in places if counts[place.signature] == 1}
