"""Ribbon: the column of every layer on one long band from left to right, before it is broken into rows.

Starting from the stored depth (x), each layer moves right until it stands just before what it feeds, so that links
are short. Parts of the graph that no link joins (bodies of an If) follow one another. Layers that nothing feeds may
stand further left than they need to, and do so where a column would grow too high.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

#: A column higher than this hands layers that nothing feeds to the columns on its left.
HIGHEST_COLUMN = 7

Links = Mapping[str, Sequence[str]]


def ribbon_columns(layout: Mapping[str, Any]) -> dict[str, int]:
    """Layer id -> column (0, 1, 2 ...) of a stored layout.

    Args:
        layout: {"nodes": [{"layer", "x", "y"}], "edges": [[source, target]]}.
    """
    depth = _depths(layout["nodes"])
    before, behind = neighbours(depth, layout["edges"])
    columns: dict[str, int] = {}
    start = 0
    for part in _parts(depth, before, behind):
        local = _late(part, depth, behind)
        local = _leveled(local, before)
        first = min(local.values())
        for layer in part:
            columns[layer] = local[layer] - first + start
        start = max(columns[layer] for layer in part) + (2 if len(part) > 1 else 1)
    return columns


def neighbours(
    known: Mapping[str, int], edges: Sequence[Sequence[str]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """What feeds each layer, and what it feeds; links that do not lead to the right are left out."""
    before: dict[str, list[str]] = {layer: [] for layer in known}
    behind: dict[str, list[str]] = {layer: [] for layer in known}
    for source, target in edges:
        if source in known and target in known and known[source] < known[target]:
            before[target].append(source)
            behind[source].append(target)
    return before, behind


def _depths(nodes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The order of the distinct x."""
    order = {x: rank for rank, x in enumerate(sorted({round(float(node["x"]), 3) for node in nodes}))}
    return {node["layer"]: order[round(float(node["x"]), 3)] for node in nodes}


def _parts(depth: Mapping[str, int], before: Links, behind: Links) -> list[list[str]]:
    """The parts of the graph that links join, in the order of their first layers."""
    seen: set[str] = set()
    parts = []
    for layer in depth:
        if layer in seen:
            continue
        seen.add(layer)
        part, open_ends = [], [layer]
        while open_ends:
            here = open_ends.pop()
            part.append(here)
            for near in (*before[here], *behind[here]):
                if near not in seen:
                    seen.add(near)
                    open_ends.append(near)
        parts.append(part)
    return parts


def _late(part: Sequence[str], depth: Mapping[str, int], behind: Links) -> dict[str, int]:
    """As far right as what it feeds allows; what feeds nothing stays."""
    columns = {layer: depth[layer] for layer in part}
    for layer in sorted(part, key=lambda name: -depth[name]):
        if behind[layer]:
            columns[layer] = min(columns[target] for target in behind[layer]) - 1
    return columns


def _leveled(columns: Mapping[str, int], before: Links) -> dict[str, int]:
    """Columns that are too high give layers that nothing feeds to the next column on the left with room."""
    leveled = dict(columns)
    members: dict[int, list[str]] = defaultdict(list)
    for layer, column in columns.items():
        members[column].append(layer)
    height = {column: len(layers) for column, layers in members.items()}
    for column in sorted(members, reverse=True):
        movable = [layer for layer in members[column] if not before[layer]]
        spare = height[column] - HIGHEST_COLUMN
        target = column
        for layer in movable[: max(0, spare)]:
            target -= 1 if target == column else 0
            while height.get(target, 0) >= HIGHEST_COLUMN:
                target -= 1
            leveled[layer] = target
            height[target] = height.get(target, 0) + 1
            height[column] -= 1
    return leveled
