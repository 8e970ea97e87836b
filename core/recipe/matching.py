"""Matching: which layer of one model is which of another; by name, else by structure where that is unambiguous.

A layer that was renamed has the same operator, as many weights and the same neighbours as before. It is matched where
no other layer answers to that description; two that could be exchanged are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.recipe.structure import Place, Structure

#: A match makes its neighbours' surroundings known, which may make them unambiguous in turn.
_MOST_ROUNDS = 50


def match_layers(source: Structure, target: Structure) -> dict[str, str]:
    """Source id -> target id, for every layer that can be told; the same names come first."""
    known = {place.id for place in target}
    matched = {place.id: place.id for place in source if place.id in known}
    loose = [place for place in source if place.id not in matched]
    free = [place for place in target if place.id not in matched.values()]
    if [place.signature for place in loose] == [place.signature for place in free]:
        return matched | {old.id: new.id for old, new in zip(loose, free, strict=True)}
    for _ in range(_MOST_ROUNDS):
        found = _unambiguous(source, target, matched)
        if not found:
            break
        matched |= found
    return matched


def _unambiguous(source: Structure, target: Structure, matched: Mapping[str, str]) -> dict[str, str]:
    """Layers whose description, neighbours included, occurs once on either side and is the same."""
    old = _once(_described(source.places, matched))
    new = _once(_described(target.places, {name: name for name in matched.values()}))
    return {old[description]: new[description] for description in old.keys() & new.keys()}


def _described(places: Sequence[Place], names: Mapping[str, str]) -> list[tuple[object, str]]:
    """(description, id) of the layers that have no match yet: what they are, and what stands before and after."""
    around: list[object] = ["start", *(names.get(place.id) or place.signature for place in places), "end"]
    return [
        ((place.signature, around[index], around[index + 2]), place.id)
        for index, place in enumerate(places)
        if place.id not in names
    ]


def _once(described: Sequence[tuple[object, str]]) -> dict[object, str]:
    counts: dict[object, int] = {}
    for description, _ in described:
        counts[description] = counts.get(description, 0) + 1
    return {description: layer for description, layer in described if counts[description] == 1}
