"""Paired maps: the same graph twice, before above after, moving together: a difference is found by its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.figures import graph_map
from dashboard.figures.fold import Fold, fold_layout
from dashboard.figures.heat_map import NAMES_PX, WIDTH, add_heat, heat_axis
from dashboard.figures.precision_map import add_precisions, precision_legend
from dashboard.figures.theme import FigureTheme, bare_figure
from dashboard.layer_views import LayerView, Measure

#: Pixels above each map for its title and legend.
_HEAD_PX = 44
#: Pixels that each map may not exceed.
PAIR_HEIGHT = 300.0


def paired_maps(
    views: Sequence[LayerView],
    layout: Mapping[str, Any],
    measure: Measure,
    executed: Mapping[str, str],
    theme: FigureTheme,
    *,
    after: Sequence[LayerView] | None = None,
    notes: Mapping[str, str] | None = None,
    selected: str | None = None,
    titles: tuple[str, str] = ("Before", "After"),
    width: float = WIDTH,
    height: float = PAIR_HEIGHT,
) -> go.Figure:
    """Two maps of one model.

    Args:
        views: the layers with the figures of the original.
        layout: the stored layout.
        measure: what colours the upper map.
        executed: layer id -> precision that runs in the candidate, for the lower map.
        theme: light or dark.
        after: the layers with the figures of the candidate; given, the lower map shows them on the upper map's scale
            instead of precisions.
        notes: layer id -> a sentence for the lower map's hover.
        selected: the layer to frame in both.
        titles: what stands above the maps.
        width: pixels the maps are folded for.
        height: pixels that each map may not exceed.
    """
    fold = fold_layout(layout, width=width, height=height)
    lane = graph_map.lane_px(fold, width=width, height=height)
    map_px = lane * (fold.lanes + 0.95) + NAMES_PX
    total = 2 * (map_px + _HEAD_PX)
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes="all",
        vertical_spacing=_HEAD_PX / (total - _HEAD_PX),
        figure=bare_figure(theme, height=round(total)),
    )
    top = max((float(measure.of(view) or 0) for view in [*views, *(after or ())]), default=0.0) or 1.0
    for row in (1, 2):
        figure.add_trace(graph_map.link_trace(fold, theme, lane=lane), row=row, col=1)
    add_heat(figure, fold, views, measure, theme, width=width, lane=lane, top=top, row=1, col=1)
    if after is None:
        add_precisions(figure, fold, views, executed, theme, notes=notes, width=width, lane=lane, row=2, col=1)
    else:
        add_heat(figure, fold, after, measure, theme, width=width, lane=lane, top=top, row=2, col=1)
    _finish(figure, fold, views, theme, width=width, lane=lane, selected=selected)
    figure.update_layout(
        coloraxis=heat_axis(measure, theme, top), margin={"l": 0, "r": 0, "t": _HEAD_PX, "b": NAMES_PX}
    )
    _title(figure, titles, theme)
    return figure


def _finish(
    figure: go.Figure,
    fold: Fold,
    views: Sequence[LayerView],
    theme: FigureTheme,
    *,
    width: float,
    lane: float,
    selected: str | None,
) -> None:
    """Names, frame and axes of both maps; the second follows every move of the first."""
    modules = {view.id: view.module for view in views}
    for row in (1, 2):
        graph_map.add_module_names(figure, fold, modules, theme, width=width, lane=lane, row=row, col=1)
        if selected in fold.places:
            figure.add_trace(graph_map.outline_trace(fold, str(selected), theme), row=row, col=1)
        graph_map.frame_axes(figure, fold, row=row, col=1)
    figure.update_yaxes(matches="y", row=2, col=1)
    below = figure.layout.yaxis2.domain[1]
    figure.update_layout(
        barmode="overlay",
        hovermode="closest",
        dragmode="pan",
        showlegend=True,
        legend={**precision_legend(theme), "y": below},
    )


def _title(figure: go.Figure, titles: tuple[str, str], theme: FigureTheme) -> None:
    for text, axis in zip(titles, (figure.layout.yaxis, figure.layout.yaxis2), strict=True):
        figure.add_annotation(
            text=text,
            xref="paper",
            yref="paper",
            x=0,
            y=axis.domain[1],
            yshift=10,
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font={"size": 13, "color": theme.text},
        )
