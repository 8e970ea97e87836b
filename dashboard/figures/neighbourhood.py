"""Neighbourhood: the part of a graph around one layer, for a look from near."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

#: So many layers are seen at once from near.
MOST_NEAR = 60


def neighbourhood(
    layout: Mapping[str, Any], layer: str, *, together: Collection[str] = (), most: int = MOST_NEAR
) -> dict[str, Any]:
    """The layout of a layer and those around it, step by step along the links in both directions.

    Args:
        layout: {"nodes": [{"layer", "x", "y"}], "edges": [[source, target]]}.
        layer: the one in the middle.
        together: layers that are shown with it, such as those of its module, unless they are too many.
        most: how many layers are shown.
    """
    near: dict[str, list[str]] = defaultdict(list)
    for source, target in layout["edges"]:
        near[source].append(target)
        near[target].append(source)
    found = dict.fromkeys([layer, *(together if len(together) < most else ())])
    ring = list(found)
    while ring and len(found) < most:
        ring = list(dict.fromkeys(other for here in ring for other in near[here] if other not in found))
        found.update(dict.fromkeys(ring[: most - len(found)]))
    return {
        "nodes": [node for node in layout["nodes"] if node["layer"] in found],
        "edges": [edge for edge in layout["edges"] if edge[0] in found and edge[1] in found],
    }
