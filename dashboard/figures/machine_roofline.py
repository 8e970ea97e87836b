"""The roofs of a machine: the rate that arithmetic can reach at most, by operations per byte, for each precision.

After Williams, Waterman, Patterson (2009). A roof rises with the bytes that arrive and is flat from the ridge point on,
where the peak of the precision is reached. Dotted lines are the bandwidths of caches. Both axes are logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.roofline import Slope, ridge, slopes
from dashboard.figures.theme import FigureTheme, bare_figure, precision_color, precision_label

_HEIGHT = 380
#: Decades of room left of the lowest ridge point and right of the highest.
_ROOM = 1.1


def machine_roofline(roofline: Mapping[str, Any], theme: FigureTheme) -> go.Figure:
    """One roof per precision, with its ridge point, and the bandwidths that feed it.

    Args:
        roofline: the `roofline` object of a `machine` document.
        theme: light or dark.
    """
    peaks = sorted(((name, float(peak)) for name, peak in roofline["gflops"].items() if peak), key=lambda item: item[1])
    slanted = slopes(roofline)
    figure = bare_figure(theme, height=_HEIGHT)
    if not peaks or not slanted:
        return figure
    low, high = _range(peaks, slanted)
    for slope in slanted[1:]:
        figure.add_trace(_cache(slope, low, ridge(peaks[-1][1], slope), theme))
    for name, peak in reversed(peaks):
        figure.add_trace(_roof(name, peak, slanted[0], (low, high)))
        _label(figure, name, peak, high, theme)
    figure.add_trace(_ridges(peaks, slanted[0], theme))
    _lay_out(figure, (low, high), (low * slanted[0].gbytes_per_s, 2.5 * peaks[-1][1]), theme)
    return figure


def _range(peaks: Sequence[tuple[str, float]], slanted: Sequence[Slope]) -> tuple[float, float]:
    ridges = [ridge(peak, slope) for _, peak in peaks for slope in slanted]
    return min(ridges) / 10**_ROOM, max(ridges) * 10**_ROOM


def _roof(name: str, peak: float, memory: Slope, xs: tuple[float, float]) -> go.Scatter:
    at = ridge(peak, memory)
    label = f"{precision_label(name)}: {quantities.three(peak)} GFLOP/s"
    return go.Scatter(
        x=[xs[0], at, xs[1]],
        y=[xs[0] * memory.gbytes_per_s, peak, peak],
        mode="lines",
        line={"color": precision_color(name), "width": 3},
        name=label,
        hovertext=[f"{label}, {quantities.three(memory.gbytes_per_s)} GB/s from memory"] * 3,
        hoverinfo="text",
    )


def _label(figure: go.Figure, name: str, peak: float, right: float, theme: FigureTheme) -> None:
    figure.add_annotation(
        x=math.log10(right),
        y=math.log10(peak),
        text=f"{precision_label(name)} {quantities.three(peak)} GFLOP/s",
        showarrow=False,
        xanchor="right",
        yshift=11,
        font={"color": theme.text, "size": 12},
    )


def _cache(slope: Slope, low: float, end: float, theme: FigureTheme) -> go.Scatter:
    told = f"{slope.name}: {quantities.three(slope.gbytes_per_s)} GB/s"
    return go.Scatter(
        x=[low, end],
        y=[low * slope.gbytes_per_s, end * slope.gbytes_per_s],
        mode="lines",
        line={"color": theme.muted, "width": 1.5, "dash": "dot"},
        name=told,
        hovertext=[told] * 2,
        hoverinfo="text",
    )


def _ridges(peaks: Sequence[tuple[str, float]], memory: Slope, theme: FigureTheme) -> go.Scatter:
    at = [ridge(peak, memory) for _, peak in peaks]
    return go.Scatter(
        x=at,
        y=[peak for _, peak in peaks],
        mode="markers+text",
        marker={
            "size": 11,
            "symbol": "diamond",
            "color": [precision_color(name) for name, _ in peaks],
            "line": {"color": theme.surface, "width": 1.5},
        },
        text=[f"{quantities.three(x)}  " for x in at],
        textposition="top left",
        textfont={"color": theme.text, "size": 12},
        hovertext=[
            f"{precision_label(name)}: from {quantities.three(x)} operations per byte on, arithmetic is the limit"
            for x, (name, _) in zip(at, peaks, strict=True)
        ],
        hoverinfo="text",
        showlegend=False,
        name="ridge points",
    )


def _lay_out(figure: go.Figure, xs: tuple[float, float], ys: tuple[float, float], theme: FigureTheme) -> None:
    for update, limits, title in (
        (figure.update_xaxes, xs, "operations per byte"),
        (figure.update_yaxes, ys, "GFLOP/s"),
    ):
        update(
            type="log",
            dtick=1,
            range=[math.log10(limits[0]), math.log10(limits[1])],
            title={"text": title, "font": {"color": theme.muted, "size": 12}, "standoff": 8},
            automargin=True,
            exponentformat="none",
            tickfont={"color": theme.muted, "size": 11},
            gridcolor=theme.missing,
            zeroline=False,
        )
    figure.update_layout(
        showlegend=True,
        legend={"orientation": "h", "y": -0.22, "x": 0, "font": {"size": 11, "color": theme.text}},
        margin={"l": 8, "r": 16, "t": 16, "b": 8},
    )
