"""Layout: where each layer stands when the graph is drawn, from left to right, neighbours about one unit apart.

Sugiyama's method (igraph) orders what runs in parallel so that few edges cross. It grows too slow above some 1,500
layers; then layers stand at the length of the longest path that leads to them, and one sweep of barycentres orders each
column. Bodies of containers stand beneath their container. The same table always gives the same layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import igraph

from core.graph.columns import columns_of, place_in_columns
from core.graph.layer import Layer, LayerTable
from core.intake.scopes import Scope

#: Above this many layers in one scope Sugiyama's method takes seconds.
SUGIYAMA_LAYERS = 1_500
#: Space between a container's row and the bodies beneath it.
_BODY_GAP = 2.0

Edges = Sequence[tuple[int, int]]
Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions by layer id, edges as pairs of ids, and the size of the drawing in the same units."""

    positions: dict[str, tuple[float, float]]
    edges: tuple[tuple[str, str], ...]
    width: float
    height: float

    def to_dict(self) -> dict[str, Any]:
        """As the `inspect` document has it."""
        return {
            "nodes": [{"layer": layer, "x": x, "y": y} for layer, (x, y) in self.positions.items()],
            "edges": [list(edge) for edge in self.edges],
            "width": self.width,
            "height": self.height,
        }


def lay_out(table: LayerTable) -> Layout:
    """Lays out all layers, the top graph first and each body beneath its container."""
    by_scope: dict[Scope, list[Layer]] = {}
    for layer in table:
        by_scope.setdefault(layer.scope, []).append(layer)
    positions: dict[str, tuple[float, float]] = {}
    _place_scope((), by_scope, table.edges, positions, left=0.0, top=0.0)
    points = positions.values()
    width = max((x for x, _ in points), default=0.0)
    height = max((y for _, y in points), default=0.0)
    ordered = {layer.id: positions[layer.id] for layer in table}
    return Layout(ordered, table.edges, round(width, 3), round(height, 3))


def _place_scope(
    scope: Scope,
    by_scope: dict[Scope, list[Layer]],
    edges: Sequence[tuple[str, str]],
    positions: dict[str, tuple[float, float]],
    *,
    left: float,
    top: float,
) -> tuple[float, float]:
    """Places one scope and all beneath it from (left, top) on; returns where it ends to the right and below."""
    layers = by_scope.get(scope, [])
    index = {layer.id: position for position, layer in enumerate(layers)}
    inside = [(index[source], index[target]) for source, target in edges if source in index and target in index]
    points = _shift(_place(len(layers), inside), left, top)
    for layer, point in zip(layers, points, strict=True):
        positions[layer.id] = (round(point[0], 3), round(point[1], 3))
    right = max((x for x, _ in points), default=left)
    bottom = max((y for _, y in points), default=top)
    shelf, cursor, lowest = bottom + _BODY_GAP, left, bottom
    for container, bodies in _bodies_beneath(scope, layers, by_scope):
        start, below = max(cursor, positions[container][0]), shelf
        for body in bodies:
            end, below = _place_scope(body, by_scope, edges, positions, left=start, top=below)
            cursor, lowest, below = max(cursor, end + _BODY_GAP), max(lowest, below), below + _BODY_GAP
    return max(right, cursor - _BODY_GAP), lowest


def _bodies_beneath(
    scope: Scope, layers: Sequence[Layer], by_scope: dict[Scope, list[Layer]]
) -> list[tuple[str, list[Scope]]]:
    """The containers of a scope with their bodies, in graph order; bodies without layers have nothing to show."""
    held: dict[str, list[Scope]] = {}
    for inner in by_scope:
        if len(inner) == len(scope) + 2 and inner[: len(scope)] == scope:
            held.setdefault("/".join(inner[:-1]), []).append(inner)
    return [(layer.id, held[layer.id]) for layer in layers if layer.id in held]


def _place(count: int, edges: Edges) -> Points:
    if count > SUGIYAMA_LAYERS:
        return place_in_columns(count, edges)
    return _sugiyama(count, edges)


def _sugiyama(count: int, edges: Edges) -> Points:
    graph = igraph.Graph(count, list(edges), directed=True)
    layout = graph.layout_sugiyama(layers=columns_of(count, edges), hgap=1, vgap=1, maxiter=100)
    return [(float(down), float(across)) for across, down in layout.coords[:count]]


def _shift(points: Points, left: float, top: float) -> Points:
    least_x = min((x for x, _ in points), default=0.0)
    least_y = min((y for _, y in points), default=0.0)
    return [(x - least_x + left, y - least_y + top) for x, y in points]
