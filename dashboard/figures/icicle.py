"""Icicle: modules from left to right with their layers at the end, in graph order; heights tell one figure."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard.figures.areas import areas
from dashboard.figures.theme import FigureTheme, bare_figure
from dashboard.figures.treemap import PATH_PX, area_arguments
from dashboard.layer_views import LayerView, Measure

_HEIGHT = 520


def icicle(
    views: Sequence[LayerView],
    measure: Measure,
    theme: FigureTheme,
    *,
    title: str,
    inside: Sequence[str] = (),
    height: int = _HEIGHT,
) -> go.Figure:
    """The icicle of a model: a layer's height is its part of the whole; those without the figure are left out.

    Args:
        views: the layers with their figures, in graph order.
        measure: what heights and colours tell.
        theme: light or dark.
        title: the name of the whole.
        inside: the path of the module to show alone; the path bar above leads out of it again.
        height: pixels.
    """
    found = areas(views, measure, theme, title=title, inside=inside)
    figure = bare_figure(theme, height=height)
    figure.add_trace(
        go.Icicle(
            **area_arguments(found, measure, theme, inside=inside),
            sort=False,
            texttemplate="%{label}  %{text}",
            leaf={"opacity": 1},
            tiling={"orientation": "h", "pad": 1},
            pathbar={"visible": True, "thickness": PATH_PX - 2, "side": "top", "textfont": {"color": theme.text}},
        )
    )
    figure.update_layout(margin={"l": 0, "r": 0, "t": PATH_PX, "b": 0}, uniformtext={"minsize": 9, "mode": "hide"})
    return figure
