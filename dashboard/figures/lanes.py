"""Lanes: how high each layer of one row stands - as straight behind what feeds it as its neighbours allow.

Within a column the layers are sorted by the lanes they wish for; the wishes, less their rank, are made monotone by
pooling neighbours that disagree (isotonic regression), which keeps every layer a lane of its own and the sum of
squared deviations smallest. A row is never higher than its highest column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence


def lanes_of_row(
    layers: Sequence[str],
    column_of: Mapping[str, int],
    height_of: Mapping[str, float],
    before: Mapping[str, Sequence[str]],
    behind: Mapping[str, Sequence[str]],
) -> dict[str, int]:
    """Layer id -> lane (0 at the top) for the layers of one row.

    Args:
        layers: those of the row.
        column_of: their columns.
        height_of: y of the stored layout, which decides where nothing else does.
        before: what feeds each layer.
        behind: what each layer feeds.
    """
    columns: dict[int, list[str]] = defaultdict(list)
    for layer in layers:
        columns[column_of[layer]].append(layer)
    limit = max(len(members) for members in columns.values())
    lanes: dict[str, int] = {}
    for column in sorted(columns):
        wishes = {layer: _lane_of_nearest(before[layer], layer, column_of, lanes) for layer in columns[column]}
        _settle(columns[column], wishes, height_of, limit, lanes)
    for column in sorted(columns, reverse=True):
        if all(before[layer] for layer in columns[column]):
            continue
        wishes = {layer: float(lanes[layer]) for layer in columns[column] if before[layer]}
        free = {
            layer: _lane_of_nearest(behind[layer], layer, column_of, lanes)
            for layer in columns[column]
            if not before[layer]
        }
        _settle(columns[column], {**free, **wishes}, height_of, limit, lanes)
    return lanes


def _lane_of_nearest(
    others: Sequence[str], layer: str, column_of: Mapping[str, int], lanes: Mapping[str, int]
) -> float | None:
    """The lane of the nearest neighbour of this row; the higher one of two that are as near."""
    placed = [(abs(column_of[layer] - column_of[other]), lanes[other]) for other in others if other in lanes]
    return float(min(placed)[1]) if placed else None


def _settle(
    members: list[str],
    wishes: Mapping[str, float | None],
    height_of: Mapping[str, float],
    limit: int,
    lanes: dict[str, int],
) -> None:
    """Gives the layers of one column their lanes; those that wish for none go beneath the others."""
    known = [wish for layer in members if (wish := wishes[layer]) is not None]
    without = float(limit) if known else 0.0
    wished = [(without if (wish := wishes[layer]) is None else wish, height_of[layer], layer) for layer in members]
    ordered = sorted(wished)
    pooled = _monotone([wish - rank for rank, (wish, _, _) in enumerate(ordered)])
    for rank, ((_, _, layer), offset) in enumerate(zip(ordered, pooled, strict=True)):
        lanes[layer] = min(max(round(offset) + rank, rank), limit - len(ordered) + rank)


def _monotone(values: Sequence[float]) -> list[float]:
    """The nearest non-decreasing sequence (pool adjacent violators)."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            more, others = blocks.pop()
            total, count = total + more, count + others
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
