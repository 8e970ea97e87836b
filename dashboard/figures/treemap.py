"""Treemap: modules as areas inside areas, the leaves are layers; area and colour tell one figure.

Ids of the areas begin with "m:" (module) or "l:" (layer), so that a click can be read back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard.figures.heat_map import hover_text
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import FigureTheme, bare_figure, heat_color, ink_on
from dashboard.layer_views import LayerView, Measure

ROOT = "m:"
_LAYER = "l:"
_HEIGHT = 380


@dataclass(frozen=True, slots=True)
class _Area:
    id: str
    parent: str
    label: str
    value: float
    color: str
    ink: str
    hover: str


def treemap(
    views: Sequence[LayerView],
    measure: Measure,
    theme: FigureTheme,
    *,
    title: str,
    selected: str | None = None,
    height: int = _HEIGHT,
) -> go.Figure:
    """The treemap of a model; layers without the figure, or with 0, have no area and are left out.

    Args:
        views: the layers with their figures.
        measure: what areas and colours tell.
        theme: light or dark.
        title: the name of the whole.
        selected: the layer to frame.
        height: pixels.
    """
    areas = _areas([view for view in views if (measure.of(view) or 0) > 0], measure, theme, title)
    chosen = f"{_LAYER}{selected}"
    figure = bare_figure(theme, height=height)
    figure.add_trace(
        go.Treemap(
            ids=[area.id for area in areas],
            parents=[area.parent for area in areas],
            labels=[area.label for area in areas],
            values=[area.value for area in areas],
            hovertext=[area.hover for area in areas],
            hoverinfo="text",
            text=[measure.write(area.value) for area in areas],
            textinfo="label+text",
            textfont={"color": [area.ink for area in areas], "size": 12},
            branchvalues="total",
            sort=True,
            tiling={"pad": 2, "packing": "squarify"},
            pathbar={"visible": True, "thickness": 22, "textfont": {"color": theme.text}},
            root={"color": "rgba(0,0,0,0)"},
            marker={
                "colors": [area.color for area in areas],
                "pad": {"t": 20, "l": 3, "r": 3, "b": 3},
                "line": {
                    "width": [3 if area.id == chosen else 0.5 for area in areas],
                    "color": [theme.accent if area.id == chosen else theme.line for area in areas],
                },
            },
        )
    )
    figure.update_layout(margin={"l": 0, "r": 0, "t": 0, "b": 0}, uniformtext={"minsize": 9, "mode": "hide"})
    return figure


def layer_of_area(area: str | None) -> str | None:
    """The layer of a clicked area; None for a module."""
    return area[len(_LAYER) :] if area is not None and area.startswith(_LAYER) else None


def _areas(known: Sequence[LayerView], measure: Measure, theme: FigureTheme, title: str) -> list[_Area]:
    return _module_areas(known, measure, theme, title) + _layer_areas(known, measure, theme)


def _module_areas(known: Sequence[LayerView], measure: Measure, theme: FigureTheme, title: str) -> list[_Area]:
    totals: dict[tuple[str, ...], float] = {(): 0.0}
    for view in known:
        for depth in range(len(view.module) + 1):
            path = view.module[:depth]
            totals[path] = totals.get(path, 0.0) + float(measure.of(view) or 0)
    areas = []
    for path, value in totals.items():
        parent = _module_id(path[:-1]) if path else ""
        label = short_plain(path[-1] if path else title, 40)
        hover = f"<b>{plain('/'.join(path) or title)}</b><br>{measure.label} {measure.write(value)}"
        areas.append(_Area(_module_id(path), parent, label, value, theme.surface, theme.text, hover))
    return areas


def _layer_areas(known: Sequence[LayerView], measure: Measure, theme: FigureTheme) -> list[_Area]:
    top = max((float(measure.of(view) or 0) for view in known), default=0.0) or 1.0
    areas = []
    for view in known:
        value = float(measure.of(view) or 0)
        label = short_plain(view.id.rpartition("/")[2] or view.id, 40)
        color = heat_color(theme.heat, value / top)
        hover = hover_text(view, measure)
        areas.append(_Area(f"{_LAYER}{view.id}", _module_id(view.module), label, value, color, ink_on(color), hover))
    return areas


def _module_id(path: Sequence[str]) -> str:
    return f"{ROOT}{'/'.join(path)}"
