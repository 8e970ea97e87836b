"""Graph map: the pieces that every map over the layout shares - links, cells, module names, the selected outline.

Cells are bars in data units, so they grow with the page, can be clicked anywhere and carry a text where
one fits. The `customdata` of a cell is its layer id.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dashboard.figures.fold import CELL_HEIGHT, CELL_WIDTH, ROW_GAP, Fold
from dashboard.figures.labels import ELLIPSIS, plain, short_plain
from dashboard.figures.theme import FigureTheme
from dashboard.figures.unfold import MODULE

#: Above this many layers the texts in the cells are left out: they would not fit, and cost a second to draw.
MAX_TEXTS = 400
#: A module name needs about this many pixels a character.
_CHARACTER_PX = 6.6
_MIN_NAME_PX = 34.0
_LONG_STRETCH = 2.5
#: A name is cut to no fewer letters; where there is less room it is left out.
_SHORTEST_NAME = 10
_MOSTLY = 0.75
#: Fewer letters than these of a longer text tell nothing.
_READABLE = 4
_SMALLEST_TEXT = 7
_BORDERED_CELL_PX = 6.0
_LANE_PX = (15.0, 40.0)
#: In narrower lanes there is no room for both a line and a name between two rows.
_ROOMY_LANE_PX = 13.0
#: In lanes narrower than this there is room for cells alone.
_DRAWN_LANE_PX = 6.0
#: Lanes between a row's lowest cells and the line over its module names.
_LINE_BELOW = 0.55


def lane_px(fold: Fold, *, width: float, height: float) -> float:
    """Pixels of one lane, so that the whole map keeps within `height` and short maps do not grow giant cells."""
    low, high = _LANE_PX
    wanted = min(high, max(low, fold.cell_px(width) * 0.62))
    return min(wanted, height / (fold.lanes + ROW_GAP))


def link_trace(fold: Fold, theme: FigureTheme, *, lane: float) -> go.Scatter:
    """All links as one line with gaps; none where lanes are so narrow (pixels) that they would cover the cells."""
    gap = (math.nan, math.nan)
    links = fold.links if lane >= _DRAWN_LANE_PX else ()
    points = np.array([point for link in links for point in (*link, gap)], dtype=float).reshape(-1, 2)
    line = {"color": theme.line, "width": 1, "shape": "linear"}
    return go.Scatter(x=points[:, 0], y=points[:, 1], mode="lines", line=line, hoverinfo="skip", showlegend=False)


def cell_trace(fold: Fold, layers: Sequence[str], *, hover: Sequence[str], **style: Any) -> go.Bar:
    """One bar per layer at its place; `style` goes to the trace (marker, text, name ...)."""
    places = np.array([fold.places[layer] for layer in layers], dtype=float).reshape(-1, 2)
    return go.Bar(
        x=places[:, 0],
        y=np.full(len(places), CELL_HEIGHT),
        base=places[:, 1] - CELL_HEIGHT / 2,
        width=CELL_WIDTH,
        customdata=np.array(layers, dtype=object),
        hovertext=np.array(hover, dtype=object),
        hoverinfo="text",
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="none",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
        **{"showlegend": False, **style},
    )


def texts_that_fit(
    fold: Fold, texts: Sequence[str], inks: Sequence[str], *, width: float, lane: float
) -> dict[str, Any]:
    """The texts of cells, cut to the room there is; none at all where hardly a letter would fit.

    `width` is that of the map and `lane` of one lane, in pixels.
    """
    room = letters_per_cell(fold, width)
    size = min(11, int(lane * CELL_HEIGHT * 0.85))
    if room < 1 or size < _SMALLEST_TEXT or len(texts) > MAX_TEXTS:
        return {}
    if room < _READABLE and any(len(text) > room for text in texts):
        return {}
    return {"text": [_cut(text, room) for text in texts], "textfont": {"color": list(inks), "size": size}}


def _cut(text: str, room: int) -> str:
    """Cut in the middle; a name that ends in a number, which tells it from its neighbours, keeps only its end."""
    if len(text) > room and text[-1:].isdigit():
        return plain(ELLIPSIS + text[1 - room :]) if room > 1 else ""
    return short_plain(text, room)


def border(fold: Fold, theme: FigureTheme, width: float, cells: Sequence[str] = ()) -> dict[str, Any]:
    """The line around cells: none where they are so small that it would cover their colours, more around modules."""
    if fold.cell_px(width) < _BORDERED_CELL_PX:
        return {"width": 0, "color": theme.line}
    modules = [cell.startswith(MODULE) for cell in cells]
    if not any(modules):
        return {"width": 0.5, "color": theme.line}
    return {
        "width": [1.5 if module else 0.5 for module in modules],
        "color": [theme.muted if module else theme.line for module in modules],
    }


def cell_text(cell: str, op: str) -> str:
    """What stands in a cell: the operator of a layer, the name of a collapsed module."""
    return cell.removeprefix(MODULE).rpartition("/")[2] if cell.startswith(MODULE) else op


def cell_box(fold: Fold, cell: str) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a cell's frame, a little outside it, so that it is seen on every colour."""
    x, y = fold.places[cell]
    half_width, half_height = CELL_WIDTH / 2 + 0.07, CELL_HEIGHT / 2 + 0.1
    return x - half_width, x + half_width, y - half_height, y + half_height


def letters_per_cell(fold: Fold, width: float) -> int:
    """How many letters a cell has room for on a map that is `width` pixels wide."""
    return int(fold.cell_px(width) * CELL_WIDTH / _CHARACTER_PX)


def outline_trace(fold: Fold, layer: str, theme: FigureTheme, *, dash: str = "solid") -> go.Scatter:
    """A frame around one cell."""
    left, right, top, bottom = cell_box(fold, layer)
    return go.Scatter(
        x=[left, right, right, left, left],
        y=[top, top, bottom, bottom, top],
        mode="lines",
        line={"color": theme.accent, "width": 2.5, "dash": dash},
        hoverinfo="skip",
        showlegend=False,
    )


def mark_trace(fold: Fold, layers: Sequence[str], theme: FigureTheme) -> go.Scatter:
    """A dotted line under many cells at once: what changed."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for layer in layers:
        x, y = fold.places[layer]
        xs += [x - CELL_WIDTH / 2, x + CELL_WIDTH / 2, None]
        ys += [y + CELL_HEIGHT / 2 + 0.08] * 2 + [None]
    line = {"color": theme.text, "width": 2, "dash": "dot"}
    return go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", name="changed since the last build")


def add_module_names(
    figure: go.Figure,
    fold: Fold,
    module_of: Mapping[str, tuple[str, ...]],
    theme: FigureTheme,
    *,
    width: float,
    lane: float,
    **axes: Any,
) -> None:
    """Writes under each row which modules its columns belong to, as deep as there is room for the names.

    `width` is that of the map and `lane` of one lane, in pixels.
    """
    if lane < _DRAWN_LANE_PX:
        return
    roomy = lane >= _ROOMY_LANE_PX
    runs = _runs(fold, _without_common_start(module_of), fold.cell_px(width))
    if roomy:
        figure.add_trace(_run_lines(runs, theme), **axes)
    figure.add_trace(_run_names(runs, theme, pixels=fold.cell_px(width), roomy=roomy), **axes)


@dataclass(frozen=True, slots=True)
class _Run:
    """A stretch of columns (`start` to `end`) of one row that belong to one module; `bottom` is its lowest lane."""

    start: int
    end: int
    bottom: float
    name: str


def _without_common_start(module_of: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Module paths without the beginning that all of them share: it tells nothing."""
    paths = [path for path in module_of.values() if path]
    shared = 0
    while paths and all(len(path) > shared + 1 and path[shared] == paths[0][shared] for path in paths):
        shared += 1
    return {layer: path[shared:] for layer, path in module_of.items()}


def _run_lines(runs: Sequence[_Run], theme: FigureTheme) -> go.Scatter:
    xs: list[float | None] = []
    ys: list[float | None] = []
    for run in runs:
        xs += [run.start - CELL_WIDTH / 2, run.end + CELL_WIDTH / 2, None]
        ys += [run.bottom + _LINE_BELOW, run.bottom + _LINE_BELOW, None]
    line = {"color": theme.line, "width": 1}
    return go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def _run_names(runs: Sequence[_Run], theme: FigureTheme, *, pixels: float, roomy: bool) -> go.Scatter:
    rooms = [int((run.end - run.start + CELL_WIDTH) * pixels / _CHARACTER_PX) for run in runs]
    names = [
        run.name if len(run.name) <= room else run.name.rpartition("/")[2]
        for run, room in zip(runs, rooms, strict=True)
    ]
    return go.Scatter(
        x=[(run.start + run.end) / 2 for run in runs],
        y=[run.bottom + (_LINE_BELOW if roomy else 0.95) for run in runs],
        text=[short_plain(name, room) for name, room in zip(names, rooms, strict=True)],
        mode="text",
        textposition="bottom center" if roomy else "middle center",
        textfont={"color": theme.muted, "size": 10 if roomy else 9},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )


def _runs(fold: Fold, module_of: Mapping[str, tuple[str, ...]], pixels: float) -> list[_Run]:
    """Every stretch of one module that is wide enough for a name; none where all layers are of one module."""
    depth = _depth(fold, module_of, pixels)
    if depth == 0:
        return []
    found: list[_Run] = []
    for row in fold.rows:
        columns = _column_modules(fold, row.layers, module_of, depth)
        start = 0
        for name, stretch in itertools.groupby(columns):
            length = len(list(stretch))
            last = name.rpartition("/")[2]
            if name and length * pixels >= max(_MIN_NAME_PX, min(len(last), _SHORTEST_NAME) * _CHARACTER_PX):
                found.append(_Run(start, start + length - 1, row.bottom, name))
            start += length
    return found if len({run.name for run in found}) > 1 else []


def _depth(fold: Fold, module_of: Mapping[str, tuple[str, ...]], pixels: float) -> int:
    """The deepest level whose names mostly fit, and whose stretches are longer than a cell or two; 0 where none is."""
    deepest = max((len(path) for path in module_of.values()), default=0)
    best = 0
    for depth in range(1, min(deepest, 6) + 1):
        stretches = [
            (name.rpartition("/")[2], len(list(stretch)))
            for row in fold.rows
            for name, stretch in itertools.groupby(_column_modules(fold, row.layers, module_of, depth))
            if name
        ]
        fitting = sum(1 for name, length in stretches if len(name) * _CHARACTER_PX <= length * pixels)
        columns = sum(length for _, length in stretches)
        if stretches and columns >= _LONG_STRETCH * len(stretches) and fitting >= _MOSTLY * len(stretches):
            best = depth
    return best


def _column_modules(
    fold: Fold, layers: Sequence[str], module_of: Mapping[str, tuple[str, ...]], depth: int
) -> list[str]:
    """Column -> the module most of its layers belong to, cut at `depth`; "" where none."""
    columns: dict[int, list[str]] = {}
    for layer in layers:
        columns.setdefault(int(fold.places[layer][0]), []).append("/".join(module_of.get(layer, ())[:depth]))
    names = []
    for column in range(max(columns, default=-1) + 1):
        here = columns.get(column, [""])
        names.append(max(sorted(set(here)), key=here.count))
    return names


def frame_axes(figure: go.Figure, fold: Fold, *, row: int | None = None, col: int | None = None) -> None:
    """Hides the axes and keeps the whole map, with room for links and names around it, in view."""
    hidden = {"visible": False, "showgrid": False, "zeroline": False}
    figure.update_xaxes(**hidden, range=[-0.75, max(fold.columns, 4) - 0.25], row=row, col=col)
    figure.update_yaxes(**hidden, range=[fold.lanes + 0.15, -0.8], row=row, col=col)
