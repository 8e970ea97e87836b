"""Folding: a layout that is long from left to right, broken into rows like lines of text, to have all of it in sight.

Input is the stored layout (x: depth, y: lane, any unit). Output positions count in cells: x is a column, y grows
downwards; a cell covers +-CELL_WIDTH/2 and +-CELL_HEIGHT/2 around its position, and links run between the cells.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

CELL_WIDTH = 0.78
CELL_HEIGHT = 0.66
MAX_ROWS = 14
#: Lanes left free between two rows: module names run right under the cells, links from row to row below them.
ROW_GAP = 1.4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the folded layout: the columns it uses (`columns` of them) and the lanes from `top` to `bottom`."""

    top: float
    bottom: float
    columns: int
    layers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Where each layer lies, the rows, and the links as lines of points."""

    places: Mapping[str, Point]
    row_of: Mapping[str, int]
    rows: tuple[Row, ...]
    links: tuple[tuple[Point, ...], ...]
    columns: int
    lanes: float

    def cell_px(self, width: float) -> float:
        """Width of a column in pixels on a figure that is `width` pixels wide."""
        return width / max(1, self.columns)


def fold_layout(layout: Mapping[str, Any], *, width: float = 860, height: float = 380) -> Fold:
    """Breaks a layout into as many rows as make its cells largest on `width` x `height` pixels.

    Args:
        layout: {"nodes": [{"layer", "x", "y"}], "edges": [[source, target]]}.
        width: pixels to fill.
        height: pixels not to exceed.
    """
    if not layout["nodes"]:
        return Fold({}, {}, (), (), 1, 1.0)
    ranks, lanes = _ranks(layout["nodes"]), _lanes(layout["nodes"])
    depth = 1 + max(ranks.values())
    options = [_rows(ranks, lanes, math.ceil(depth / rows)) for rows in range(1, min(MAX_ROWS, depth) + 1)]
    best = max(options, key=lambda option: _cell_size(option, width, height))
    row_of = {layer: number for number, row in enumerate(best.rows) for layer in row.layers}
    router = _Router(best.places, row_of, best.rows)
    links = tuple(
        router.link(source, target) for source, target in layout["edges"] if source in row_of and target in row_of
    )
    return Fold(best.places, row_of, best.rows, links, best.columns, best.rows[-1].bottom + 1)


@dataclass(frozen=True, slots=True)
class _Option:
    places: Mapping[str, Point]
    rows: tuple[Row, ...]
    columns: int


def _cell_size(option: _Option, width: float, height: float) -> float:
    lanes = option.rows[-1].bottom + 1
    return round(min(width / option.columns, 1.6 * height / lanes, 64.0), 1) - 0.2 * len(option.rows)


def _ranks(nodes: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Depth as 0, 1, 2 ...: the order of the distinct x."""
    order = {x: rank for rank, x in enumerate(sorted({round(float(node["x"]), 3) for node in nodes}))}
    return {node["layer"]: order[round(float(node["x"]), 3)] for node in nodes}


def _lanes(nodes: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Lanes (y) in units of the usual distance between neighbours of one depth."""
    columns: dict[float, list[float]] = defaultdict(list)
    for node in nodes:
        columns[round(float(node["x"]), 3)].append(float(node["y"]))
    gaps = [b - a for ys in columns.values() for a, b in itertools.pairwise(sorted(ys)) if b > a]
    unit = median(gaps) if gaps else 1.0
    return {node["layer"]: float(node["y"]) / unit for node in nodes}


def _rows(ranks: Mapping[str, int], lanes: Mapping[str, float], columns: int) -> _Option:
    members: dict[int, list[str]] = defaultdict(list)
    for layer, rank in ranks.items():
        members[rank // columns].append(layer)
    places: dict[str, Point] = {}
    rows: list[Row] = []
    top = 0.0
    for number in sorted(members):
        lane_of = _packed(members[number], ranks, lanes)
        for layer in members[number]:
            places[layer] = (float(ranks[layer] % columns), top + lane_of[layer])
        bottom = top + max(lane_of.values())
        used = 1 + max(ranks[layer] % columns for layer in members[number])
        rows.append(Row(top, bottom, used, tuple(members[number])))
        top = bottom + 1 + ROW_GAP
    return _Option(places, tuple(rows), columns)


def _packed(layers: Sequence[str], ranks: Mapping[str, int], lanes: Mapping[str, float]) -> dict[str, float]:
    """Lanes of one row from 0 without empty ones between; cells of one column stay at least a lane apart."""
    distinct = sorted({round(lanes[layer], 2) for layer in layers})
    packed = {distinct[0]: 0.0}
    for previous, lane in itertools.pairwise(distinct):
        packed[lane] = packed[previous] + min(1.0, lane - previous)
    placed: dict[str, float] = {}
    lowest: dict[int, float] = {}
    for layer in sorted(layers, key=lambda name: lanes[name]):
        lane = max(packed[round(lanes[layer], 2)], lowest.get(ranks[layer], -math.inf) + 1)
        placed[layer] = lowest[ranks[layer]] = lane
    return placed


class _Router:
    """Draws links at right angles: along a lane where it is free, else through the space between the lanes."""

    def __init__(self, places: Mapping[str, Point], row_of: Mapping[str, int], rows: Sequence[Row]) -> None:
        self._places = places
        self._row_of = row_of
        self._rows = rows
        self._taken: dict[tuple[int, int], list[float]] = defaultdict(list)
        for layer, (x, y) in places.items():
            for lane in {math.floor(y), math.ceil(y)}:
                bisect.insort(self._taken[row_of[layer], lane], x)

    def link(self, source: str, target: str) -> tuple[Point, ...]:
        (x1, y1), (x2, y2) = self._places[source], self._places[target]
        row, target_row = self._row_of[source], self._row_of[target]
        half = CELL_WIDTH / 2
        start, end = (x1 + half, y1), (x2 - half, y2)
        if row != target_row or x2 <= x1:
            between = self._rows[min(row, target_row)].bottom + 1.5 if row != target_row else max(y1, y2) + 0.5
            return (start, (x1 + 0.5, y1), (x1 + 0.5, between), (x2 - 0.5, between), (x2 - 0.5, y2), end)
        if self._free(row, y1, x1, x2):
            return (start, (x2 - 0.5, y1), (x2 - 0.5, y2), end)
        if self._free(row, y2, x1, x2):
            return (start, (x1 + 0.5, y1), (x1 + 0.5, y2), end)
        beside = min(y1, y2) - 0.5
        return (start, (x1 + 0.5, y1), (x1 + 0.5, beside), (x2 - 0.5, beside), (x2 - 0.5, y2), end)

    def _free(self, row: int, y: float, x1: float, x2: float) -> bool:
        for lane in {math.floor(y), math.ceil(y)}:
            columns = self._taken[row, lane]
            if bisect.bisect_left(columns, x2) - bisect.bisect_right(columns, x1) > 0:
                return False
        return True
