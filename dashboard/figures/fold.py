"""Folding: a layout that is long from left to right, broken into rows like lines of text, to have all of it in sight.

Positions count in cells: x is a column, y a lane and grows downwards; a cell covers +-CELL_WIDTH/2 and
+-CELL_HEIGHT/2 around its position, and links run at right angles between the cells.
"""

from __future__ import annotations

import bisect
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.figures.lanes import lanes_of_row
from dashboard.figures.ribbon import neighbours, ribbon_columns

CELL_WIDTH = 0.78
CELL_HEIGHT = 0.66
MAX_ROWS = 14
#: Where even so many rows leave cells smaller than this, size is all that counts, with rows up to the larger number.
SMALL_CELL_PX, MOST_ROWS = 5.0, 48
#: Lanes left free between two rows: module names run right under the cells, links from row to row below them.
ROW_GAP = 1.4

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the folded layout: its first and last lane, and its layers."""

    top: float
    bottom: float
    layers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fold:
    """Where each layer lies, the rows, and the links as lines of points; `lanes` is the height of all."""

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
    ribbon = ribbon_columns(layout)
    columns = _best_width(ribbon, width, height)
    rows, places = _rows(layout, ribbon, columns)
    row_of = {layer: number for number, row in enumerate(rows) for layer in row.layers}
    router = _Router(places, row_of, rows)
    edges = [(source, target) for source, target in layout["edges"] if source in row_of and target in row_of]
    links = tuple(router.link(source, target) for source, target in edges)
    return Fold(places, row_of, rows, links, columns, rows[-1].bottom + 1)


def _best_width(ribbon: Mapping[str, int], width: float, height: float) -> int:
    """How many columns a row has where the cells come out largest."""
    heights: dict[int, int] = defaultdict(int)
    for column in ribbon.values():
        heights[column] += 1
    depth = 1 + max(heights)
    sizes = {columns: _cell_size(heights, columns, width, height) for columns in _widths(depth, MAX_ROWS)}
    if max(size for size, _ in sizes.values()) >= SMALL_CELL_PX:
        return max(sizes, key=lambda columns: round(sizes[columns][0], 1) - 0.2 * sizes[columns][1])
    return max(_widths(depth, MOST_ROWS), key=lambda columns: _cell_size(heights, columns, width, height)[0])


def _widths(depth: int, rows: int) -> list[int]:
    """Columns of a row where there are 1, 2, ... `rows` of them, the widest first."""
    return sorted({math.ceil(depth / number) for number in range(1, min(rows, depth) + 1)}, reverse=True)


def _cell_size(heights: Mapping[int, int], columns: int, width: float, height: float) -> tuple[float, int]:
    """Pixels of a cell, and how many rows there are."""
    tallest: dict[int, int] = defaultdict(int)
    for column, count in heights.items():
        tallest[column // columns] = max(tallest[column // columns], count)
    lanes = sum(tallest.values()) + ROW_GAP * (len(tallest) - 1)
    return min(width / columns, 1.6 * height / lanes, 64.0), len(tallest)


def _rows(
    layout: Mapping[str, Any], ribbon: Mapping[str, int], columns: int
) -> tuple[tuple[Row, ...], dict[str, Point]]:
    before, behind = neighbours(ribbon, layout["edges"])
    height_of = {node["layer"]: float(node["y"]) for node in layout["nodes"]}
    members: dict[int, list[str]] = defaultdict(list)
    for layer, column in ribbon.items():
        members[column // columns].append(layer)
    places: dict[str, Point] = {}
    rows: list[Row] = []
    top = 0.0
    for number in sorted(members):
        lane_of = lanes_of_row(members[number], ribbon, height_of, before, behind)
        for layer in members[number]:
            places[layer] = (float(ribbon[layer] % columns), top + lane_of[layer])
        rows.append(Row(top, top + max(lane_of.values()), tuple(members[number])))
        top = rows[-1].bottom + 1 + ROW_GAP
    return tuple(rows), places


class _Router:
    """Draws links at right angles: along a lane where it is free, else through the space between the lanes."""

    def __init__(self, places: Mapping[str, Point], row_of: Mapping[str, int], rows: Sequence[Row]) -> None:
        self._places = places
        self._row_of = row_of
        self._rows = rows
        self._taken: dict[float, list[float]] = defaultdict(list)
        for x, y in places.values():
            bisect.insort(self._taken[y], x)

    def link(self, source: str, target: str) -> tuple[Point, ...]:
        (x1, y1), (x2, y2) = self._places[source], self._places[target]
        row, target_row = self._row_of[source], self._row_of[target]
        start, end = (x1 + CELL_WIDTH / 2, y1), (x2 - CELL_WIDTH / 2, y2)
        if row != target_row:
            return (start, *_detour(x1, y1, self._rows[min(row, target_row)].bottom + 1.5, x2, y2), end)
        if x2 <= x1:
            return (start, *_detour(x1, y1, max(y1, y2) + 0.5, x2, y2), end)
        if self._free(y1, x1, x2):
            return (start, (x2 - 0.5, y1), (x2 - 0.5, y2), end)
        if self._free(y2, x1, x2):
            return (start, (x1 + 0.5, y1), (x1 + 0.5, y2), end)
        beside = y1 + 0.5 if y2 > y1 else y1 - 0.5
        return (start, *_detour(x1, y1, beside, x2, y2), end)

    def _free(self, lane: float, x1: float, x2: float) -> bool:
        columns = self._taken[lane]
        return bisect.bisect_left(columns, x2) - bisect.bisect_right(columns, x1) == 0


def _detour(x1: float, y1: float, between: float, x2: float, y2: float) -> tuple[Point, ...]:
    """Out of the source's column, along `between`, and into the target's column."""
    return ((x1 + 0.5, y1), (x1 + 0.5, between), (x2 - 0.5, between), (x2 - 0.5, y2))
