"""Treemap: modules as areas inside areas, the leaves are layers; area and colour tell one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.figures.areas import Area, areas, module_of
from dashboard.figures.theme import FigureTheme, bare_figure
from dashboard.layer_views import LayerView, Measure

_HEIGHT = 420
#: The bar above with the modules around what is shown; it is drawn into the margin.
PATH_PX = 24


def treemap(
    views: Sequence[LayerView],
    measure: Measure,
    theme: FigureTheme,
    *,
    title: str,
    inside: Sequence[str] = (),
    height: int = _HEIGHT,
) -> go.Figure:
    """The treemap of a model; layers without the figure, or with 0, have no area and are left out.

    Args:
        views: the layers with their figures.
        measure: what areas and colours tell.
        theme: light or dark.
        title: the name of the whole.
        inside: the path of the module to show alone; the path bar above leads out of it again.
        height: pixels.
    """
    found = areas(views, measure, theme, title=title, inside=inside)
    figure = bare_figure(theme, height=height)
    figure.add_trace(
        go.Treemap(
            **area_arguments(found, measure, theme, inside=inside),
            sort=True,
            textinfo="label+text",
            tiling={"pad": 2, "packing": "squarify"},
            pathbar={"visible": True, "thickness": PATH_PX - 2, "textfont": {"color": theme.text}},
        )
    )
    figure.data[0].marker.pad = {"t": 20, "l": 3, "r": 3, "b": 3}
    figure.update_layout(margin={"l": 0, "r": 0, "t": PATH_PX, "b": 0}, uniformtext={"minsize": 9, "mode": "hide"})
    return figure


def area_arguments(
    found: Sequence[Area], measure: Measure, theme: FigureTheme, *, inside: Sequence[str]
) -> dict[str, Any]:
    """What a treemap and an icicle share: the areas, texts and colours, and where it is zoomed to.

    One line for all areas: with one per area Plotly draws no path bar.
    """
    ids = [area.id for area in found]
    level = module_of(inside, ids)
    return {
        "ids": ids,
        "parents": [area.parent for area in found],
        "labels": [area.label for area in found],
        "values": [area.value for area in found],
        "hovertext": [area.hover for area in found],
        "hoverinfo": "text",
        "text": [measure.write(area.value) for area in found],
        "textfont": {"color": [area.ink for area in found], "size": 12},
        "branchvalues": "total",
        "level": level,
        "uirevision": f"{measure.key} {level}",
        "root": {"color": "rgba(0,0,0,0)"},
        "marker": {"colors": [area.color for area in found], "line": {"width": 0.5, "color": theme.line}},
    }
