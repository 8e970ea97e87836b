"""Roofline: each layer by its operations per byte and the rate it reaches, below the roofs of this machine.

After Williams, Waterman, Patterson (2009): no kernel computes faster than the peak of its precision (flat roofs), and
none faster than its bytes arrive (slanted roofs, one for memory and one for each cache that was measured). Both axes
are logarithmic. An operation is a half multiply-accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import PRECISION_COLORS, FigureTheme, bare_figure, precision_color, precision_label
from dashboard.layer_views import LayerView, write_intensity

By = Literal["limit", "precision"]

#: More points than these are drawn slowly and hide each other: the layers that take the longest are drawn.
MOST_POINTS = 1500
_HEIGHT = 480
_SIZES = (6.0, 30.0)
#: Roofs nearer to each other than this factor cannot be told apart.
_FASTER = 2.0
#: Room around points and roofs, as a factor.
_MARGIN = 1.6
_SYMBOLS = {"compute": "circle", "memory": "diamond", "overhead": "triangle-up"}
_UNKNOWN = "x"
_SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "hexagon", "bowtie")
_PRECISION_SYMBOLS = dict(zip(PRECISION_COLORS, _SHAPES, strict=True))


@dataclass(frozen=True, slots=True)
class Slope:
    """A slanted roof: bytes arrive at `gbytes_per_s`; `name` says from where."""

    name: str
    gbytes_per_s: float


def roofline_chart(
    views: Sequence[LayerView],
    roofline: Mapping[str, Any] | None,
    theme: FigureTheme,
    *,
    by: By = "limit",
    selected: str | None = None,
    height: int = _HEIGHT,
) -> go.Figure:
    """The layers that compute, and the roofs where they are known.

    Args:
        views: the layers with their figures.
        roofline: the `roofline` object of a `profile` document; None: this machine was not measured.
        theme: light or dark.
        by: what colours and shapes tell: what limits a layer, or what it computes in.
        selected: the layer to ring.
        height: pixels.
    """
    known = placed(views)
    shown = sorted(known, key=lambda view: -(view.ms or 0.0))[:MOST_POINTS]
    xs, ys = _ranges(shown, roofline)
    figure = bare_figure(theme, height=height)
    if roofline is not None:
        _add_roofs(figure, roofline, {view.precision for view in known}, xs, theme)
    for name, group in _groups(shown, by):
        figure.add_trace(_points(name, group, by, shown, theme))
    chosen = next((view for view in known if view.id == selected), None)
    if chosen is not None:
        figure.add_trace(_ring(chosen, shown, theme))
    _lay_out(figure, theme, xs, ys)
    return figure


def placed(views: Sequence[LayerView]) -> list[LayerView]:
    """The layers that have a place: they compute, and their time and bytes are known."""
    return [view for view in views if view.gflops and view.intensity]


def slopes(roofline: Mapping[str, Any]) -> list[Slope]:
    """The slanted roofs, that of memory first; of the caches those that are each twice as fast as the one before."""
    memory = float(roofline.get("gbytes_per_s") or 0.0)
    found = [Slope("memory", memory)] if memory > 0 else []
    for cache in reversed(roofline.get("caches") or ()):
        speed = float(cache["gbytes_per_s"])
        if speed >= _FASTER * max((slope.gbytes_per_s for slope in found), default=0.0):
            found.append(Slope(f"working sets up to {quantities.size(cache['bytes'])}", speed))
    return found


def ridge(gflops: float, slope: Slope) -> float:
    """Operations per byte from which arithmetic takes longer than the bytes."""
    return gflops / slope.gbytes_per_s


def _add_roofs(
    figure: go.Figure,
    roofline: Mapping[str, Any],
    used: set[str | None],
    xs: tuple[float, float],
    theme: FigureTheme,
) -> None:
    peaks = {name: float(value) for name, value in (roofline.get("gflops") or {}).items() if value}
    slanted = slopes(roofline)
    highest = max(peaks.values(), default=0.0)
    for number, slope in enumerate(slanted):
        end = min(xs[1], ridge(highest, slope)) if highest else xs[1]
        figure.add_trace(_slope_line(slope, (xs[0], end), theme, dash="solid" if number == 0 else "dot"))
    start_of = max((slope.gbytes_per_s for slope in slanted), default=0.0)
    for name, peak in sorted(peaks.items(), key=lambda pair: pair[1]):
        start = max(xs[0], peak / start_of) if start_of else xs[0]
        figure.add_trace(_peak_line(name, peak, (start, xs[1]), name in used))


def _slope_line(slope: Slope, xs: tuple[float, float], theme: FigureTheme, *, dash: str) -> go.Scatter:
    told = f"{slope.name} {quantities.three(slope.gbytes_per_s)} GB/s"
    return go.Scatter(
        x=list(xs),
        y=[x * slope.gbytes_per_s for x in xs],
        mode="lines",
        line={"color": theme.muted, "width": 2, "dash": dash},
        name=told,
        hovertext=f"{told}: no more operations than bytes arrive for",
        hoverinfo="text",
        legendgroup="slopes",
        legendrank=20,
    )


def _peak_line(name: str, peak: float, xs: tuple[float, float], used: bool) -> go.Scatter:
    told = f"{precision_label(name)} at most {quantities.three(peak)} GFLOP/s"
    return go.Scatter(
        x=list(xs),
        y=[peak, peak],
        mode="lines+text",
        line={"color": precision_color(name), "width": 2, "dash": "solid" if used else "dash"},
        text=["", precision_label(name)],
        textposition="top left",
        textfont={"size": 11},
        name=told,
        hovertext=told if used else f"{told}; no layer computes in it",
        hoverinfo="text",
        legendrank=30,
        cliponaxis=False,
    )


def _groups(shown: Sequence[LayerView], by: By) -> list[tuple[str | None, list[LayerView]]]:
    groups: dict[str | None, list[LayerView]] = {}
    for view in shown:
        groups.setdefault(view.limited_by if by == "limit" else view.precision, []).append(view)
    return sorted(groups.items(), key=lambda pair: str(pair[0] or "~"))


def _points(
    name: str | None, group: Sequence[LayerView], by: By, shown: Sequence[LayerView], theme: FigureTheme
) -> go.Scatter:
    color, symbol, told = _look(name, by, theme)
    return go.Scatter(
        x=np.array([view.intensity for view in group], dtype=float),
        y=np.array([view.gflops for view in group], dtype=float),
        mode="markers",
        marker={
            "color": color,
            "symbol": symbol,
            "size": _sizes(group, shown),
            "opacity": 0.75,
            "line": {"width": 1, "color": theme.surface},
        },
        customdata=np.array([view.id for view in group], dtype=object),
        hovertext=np.array([hover(view) for view in group], dtype=object),
        hoverinfo="text",
        name=f"{told} ({len(group)})",
        legendrank=10,
        selected={"marker": {"opacity": 0.75}},
        unselected={"marker": {"opacity": 0.75}},
        cliponaxis=False,
    )


def _look(name: str | None, by: By, theme: FigureTheme) -> tuple[str, str, str]:
    """Colour, symbol and words of a group of points."""
    if by == "precision":
        if name is None:
            return theme.muted, _UNKNOWN, "precision not known"
        return precision_color(name), _PRECISION_SYMBOLS.get(name, "star-diamond"), precision_label(name)
    if name is None:
        return theme.muted, _UNKNOWN, "limit not known"
    colors = {"compute": theme.accent, "memory": "#D55E00", "overhead": theme.muted}
    return colors.get(name, theme.muted), _SYMBOLS.get(name, _UNKNOWN), f"limited by {name}"


def _sizes(group: Sequence[LayerView], shown: Sequence[LayerView]) -> list[float]:
    """Diameters (pixels): the area tells the time."""
    top = max((view.ms or 0.0 for view in shown), default=0.0) or 1.0
    low, high = _SIZES
    return [low + (high - low) * math.sqrt((view.ms or 0.0) / top) for view in group]


def hover(view: LayerView) -> str:
    """Name, time, where it lies, and what it reaches of what this machine can."""
    lines = [
        f"<b>{short_plain(view.id, 80)}</b>",
        f"{plain(view.op)} · {plain(view.precision or 'precision not known')} · {quantities.time_ms(view.ms)}",
        f"{quantities.with_unit(view.gflops, 'GFLOP/s')} at {write_intensity(view.intensity)}",
    ]
    if view.attained is not None:
        lines.append(f"{quantities.share(view.attained)} of what this machine can reach here")
    if view.limited_by:
        lines.append(f"Limited by {plain(view.limited_by)}")
    return "<br>".join(lines)


def _ring(view: LayerView, shown: Sequence[LayerView], theme: FigureTheme) -> go.Scatter:
    return go.Scatter(
        x=[view.intensity],
        y=[view.gflops],
        mode="markers",
        marker={
            "symbol": "circle-open",
            "size": _sizes([view], shown)[0] + 12,
            "color": theme.text,
            "line": {"width": 3, "color": theme.text},
        },
        name="chosen layer",
        hovertext=[hover(view)],
        hoverinfo="text",
        legendrank=15,
        cliponaxis=False,
    )


def _ranges(
    shown: Sequence[LayerView], roofline: Mapping[str, Any] | None
) -> tuple[tuple[float, float], tuple[float, float]]:
    """What the axes span: all points, the ridge of the memory, and the highest roof."""
    xs = [view.intensity or 1.0 for view in shown]
    ys = [view.gflops or 1.0 for view in shown]
    peaks = [float(value) for value in ((roofline or {}).get("gflops") or {}).values() if value]
    memory = float((roofline or {}).get("gbytes_per_s") or 0.0)
    if peaks and memory:
        xs += [peak / memory for peak in peaks]
    ys += peaks
    return _spread(xs), _spread(ys)


def _spread(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=1.0), max(values, default=1.0)
    return low / _MARGIN, high * _MARGIN


def _lay_out(figure: go.Figure, theme: FigureTheme, xs: tuple[float, float], ys: tuple[float, float]) -> None:
    quiet = {"color": theme.muted, "size": 11}
    axis = {
        "type": "log",
        "tickfont": quiet,
        "gridcolor": theme.missing,
        "zeroline": False,
        "automargin": True,
        "dtick": 1,
        "minor": {"ticks": "outside", "ticklen": 3, "tickcolor": theme.line},
    }
    figure.update_xaxes(
        **axis,
        range=[math.log10(xs[0]), math.log10(xs[1])],
        title={"text": "arithmetic intensity: operations per byte moved (FLOP/B)", "font": quiet},
    )
    figure.update_yaxes(
        **axis,
        range=[math.log10(ys[0]), math.log10(ys[1])],
        title={"text": "reached (GFLOP/s)", "font": quiet},
    )
    figure.update_layout(
        showlegend=True,
        legend={
            "x": 1.01,
            "y": 1,
            "xanchor": "left",
            "itemclick": False,
            "itemdoubleclick": False,
            "itemsizing": "constant",
        },
        margin={"l": 8, "r": 8, "t": 16, "b": 44},
        hovermode="closest",
        dragmode="zoom",
        uirevision="roofline",
    )
