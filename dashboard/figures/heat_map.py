"""Heat map: the graph from left to right, each layer coloured by one figure (latency, MACs, bytes ...)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures import graph_map
from dashboard.figures.fold import Fold, fold_layout
from dashboard.figures.labels import plain
from dashboard.figures.theme import FigureTheme, bare_figure, heat_color, ink_on
from dashboard.layer_views import LayerView, Measure

#: The narrowest width (pixels) a map is drawn at; folding is done for it.
WIDTH = 720.0
HEIGHT = 380.0
LEGEND_PX = 40
#: Room for the last row of module names, which are written in pixels, not in lanes.
NAMES_PX = 16


def heat_map(
    views: Sequence[LayerView],
    layout: Mapping[str, Any],
    measure: Measure,
    theme: FigureTheme,
    *,
    selected: str | None = None,
    fold: Fold | None = None,
    width: float = WIDTH,
    height: float = HEIGHT,
) -> go.Figure:
    """The heat map of a model.

    Args:
        views: the layers with their figures.
        layout: the stored layout.
        measure: what colours the cells; layers without it are hatched.
        theme: light or dark.
        selected: the layer to frame.
        fold: the layout folded for this size, if that was done before.
        width: pixels the map is folded for; it stretches to its container.
        height: pixels not to exceed.
    """
    fold = fold or fold_layout(layout, width=width, height=height)
    lane = graph_map.lane_px(fold, width=width, height=height)
    figure = bare_figure(theme, height=round(lane * (fold.lanes + 0.95)) + LEGEND_PX + NAMES_PX)
    figure.add_trace(graph_map.link_trace(fold, theme, lane=lane))
    top = add_heat(figure, fold, views, measure, theme, width=width, lane=lane)
    modules = {view.id: view.module for view in views}
    graph_map.add_module_names(figure, fold, modules, theme, width=width, lane=lane)
    if selected in fold.places:
        figure.add_trace(graph_map.outline_trace(fold, str(selected), theme))
    graph_map.frame_axes(figure, fold)
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": LEGEND_PX, "b": NAMES_PX},
        barmode="overlay",
        coloraxis=heat_axis(measure, theme, top),
        hovermode="closest",
        dragmode="pan",
    )
    note = _unknown_note([measure.of(view) for view in views if view.id in fold.places], measure)
    if note:
        figure.add_annotation(**legend_note(note, theme))
    return figure


def _unknown_note(values: Sequence[float | None], measure: Measure) -> str:
    if not values or None not in values:
        return ""
    known = any(value is not None for value in values)
    return "Hatched: not known" if known else f"{measure.label}: not known of any layer"


def legend_note(text: str, theme: FigureTheme) -> dict[str, Any]:
    """A few words above the map on the left, on the line of the legend."""
    return {
        "text": plain(text),
        "showarrow": False,
        "font": {"color": theme.muted, "size": 11},
        "x": 0.0,
        "xref": "paper",
        "xanchor": "left",
        "y": 1.0,
        "yref": "paper",
        "yanchor": "bottom",
    }


def add_heat(
    figure: go.Figure,
    fold: Fold,
    views: Sequence[LayerView],
    measure: Measure,
    theme: FigureTheme,
    *,
    width: float = WIDTH,
    lane: float,
    top: float | None = None,
    **axes: Any,
) -> float:
    """Adds the cells, known and unknown, and returns the top of their scale (`top` where it is given)."""
    placed = [view for view in views if view.id in fold.places]
    known = [view for view in placed if measure.of(view) is not None]
    unknown = [view for view in placed if measure.of(view) is None]
    values = [float(measure.of(view) or 0) for view in known]
    top = top or max(values, default=0.0) or 1.0
    if known:
        colors = [heat_color(theme.heat, value / top) for value in values]
        figure.add_trace(_legend_trace(), **axes)
        figure.add_trace(
            graph_map.cell_trace(
                fold,
                [view.id for view in known],
                hover=[hover_text(view, measure) for view in known],
                marker={
                    "color": np.array(colors, dtype=object),
                    "line": graph_map.border(fold, theme, width, [view.id for view in known]),
                },
                **graph_map.texts_that_fit(
                    fold,
                    [graph_map.cell_text(view.id, view.op) for view in known],
                    [ink_on(color) for color in colors],
                    width=width,
                    lane=lane,
                ),
            ),
            **axes,
        )
    if unknown:
        figure.add_trace(
            graph_map.cell_trace(
                fold,
                [view.id for view in unknown],
                hover=[hover_text(view, measure) for view in unknown],
                marker={
                    "color": theme.missing,
                    "line": graph_map.border(fold, theme, width),
                    "pattern": {"shape": "/", "size": 5, "solidity": 0.15, "fgcolor": theme.line},
                },
            ),
            **axes,
        )
    return top


def _legend_trace() -> go.Scatter:
    """Nothing to see: it carries the legend. Cells have their final colours, which the browser draws thrice as fast."""
    marker = {"color": [0.0], "coloraxis": "coloraxis"}
    return go.Scatter(x=[None], y=[None], mode="markers", marker=marker, hoverinfo="skip", showlegend=False)


def hover_text(view: LayerView, measure: Measure) -> str:
    """Full name, operator, and the figures, each with its unit."""
    lines = [f"<b>{plain(view.id)}</b>", f"{plain(view.op)} · {measure.label} {measure.write(measure.of(view))}"]
    if measure.key != "latency":
        lines.append(f"Latency {quantities.time_ms(view.ms)}")
    if view.share is not None and measure.key != "share":
        lines.append(f"{quantities.share(view.share)} of the kernel time")
    if view.limited_by:
        lines.append(f"Limited by {plain(view.limited_by)}")
    return "<br>".join(lines)


def heat_axis(measure: Measure, theme: FigureTheme, top: float) -> dict[str, Any]:
    """The shared colour scale from 0 to `top`, with its legend above the map on the right."""
    ticks = [0.0, top / 2, top]
    return {
        "colorscale": [[at, color] for at, color in theme.heat],
        "cmin": 0,
        "cmax": top,
        "colorbar": {
            "orientation": "h",
            "thickness": 9,
            "thicknessmode": "pixels",
            "len": 200,
            "lenmode": "pixels",
            "x": 0.94,
            "xanchor": "right",
            "y": 1.0,
            "yanchor": "bottom",
            "ypad": 4,
            "xpad": 0,
            "outlinewidth": 0,
            "tickvals": ticks,
            "ticktext": [measure.write(tick) if tick else "0" for tick in ticks],
            "tickfont": {"color": theme.muted, "size": 11},
            "ticks": "",
        },
    }
