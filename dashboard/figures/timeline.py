"""Timeline: the kernels of one real run from left to right, what runs inside a container below it, gaps in sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.kernels import Span, Window, placed, spans, whole_ms
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import FigureTheme, bare_figure
from dashboard.figures.time_bar import BUCKET_LOOKS, BUCKETS, GAP, LAYERS, hatching

_LANE_PX = 64
_FRAME_PX = 92
_BAR = 0.78
#: The frame of a chosen kernel stands out of the bars, so that it is seen around a narrow one.
_FRAME = 0.96
#: The width (pixels) that texts are fitted for.
_WIDTH = 900.0
_CHARACTER_PX = 7.2
#: Fewer letters than these of a longer text tell nothing.
_FEWEST_LETTERS = 6
#: A border around bars narrower than this would hide them.
_BORDERED_PX = 5.0
_MOST_NAMED = 3
#: Of a layer that runs a thousand times in a loop no more are framed.
MOST_BOXES = 60
#: Windows shorter than this (ms) are told in microseconds.
_SHORT_MS = 0.5


def timeline_chart(timeline: Mapping[str, Any], theme: FigureTheme, *, window: Window | None = None) -> go.Figure:
    """The run, or a window of it; kernels too short to be seen in it are put together and say so.

    Args:
        timeline: the `timeline` object of a `profile` document.
        theme: light or dark.
        window: start and end in ms; None for the whole run.
    """
    low, high = window or (0.0, whole_ms(timeline))
    factor, unit = _unit(low, high)
    shown = spans(timeline, (low, high))
    lanes = 1 + max((span.lane for span in shown), default=0)
    figure = bare_figure(theme, height=_FRAME_PX + _LANE_PX * lanes)
    figure.add_trace(_gap_trace(low, high, factor, theme))
    kinds = [None, *BUCKETS]
    for kind in kinds:
        of_kind = [span for span in shown if span.bucket == kind]
        if of_kind:
            figure.add_trace(_kernel_trace(of_kind, kind, factor, high - low, theme))
    _lay_out(figure, theme, lanes=lanes, window=(low * factor, high * factor), unit=unit)
    return figure


def boxes_of(
    timeline: Mapping[str, Any], layer: str, *, window: Window | None = None
) -> list[tuple[float, float, float, float]]:
    """Where the kernels of a layer are (x0, x1, y0, y1), those that take longest first, at most `MOST_BOXES`."""
    low, high = window or (0.0, whole_ms(timeline))
    factor, _ = _unit(low, high)
    found = [span for span in placed(timeline) if layer in span.layers and span.end_ms >= low and span.start_ms <= high]
    longest = sorted(found, key=lambda span: span.start_ms - span.end_ms)[:MOST_BOXES]
    return [
        (
            max(low, span.start_ms) * factor,
            min(high, span.end_ms) * factor,
            span.lane - _FRAME / 2,
            span.lane + _FRAME / 2,
        )
        for span in longest
    ]


def _unit(low: float, high: float) -> tuple[float, str]:
    """One unit for the axis of a window in ms."""
    return (1000.0, "µs") if high - low < _SHORT_MS else (1.0, "ms")


def _gap_trace(low: float, high: float, factor: float, theme: FigureTheme) -> go.Bar:
    """What shows between the kernels."""
    return go.Bar(
        x=[(high - low) * factor],
        base=[low * factor],
        y=[0],
        width=_BAR,
        orientation="h",
        name=GAP,
        marker={
            "color": theme.missing,
            "line": {"width": 0},
            "pattern": {"shape": "/", "size": 6, "solidity": 0.12, "fgcolor": theme.line},
        },
        hovertext=["Between kernels: dispatch, allocation, and the profiler itself"],
        hoverinfo="text",
    )


def _kernel_trace(
    shown: Sequence[Span], kind: str | None, factor: float, length_ms: float, theme: FigureTheme
) -> go.Bar:
    color, shape = (theme.accent, "") if kind is None else BUCKET_LOOKS.get(kind, (theme.muted, ""))
    pixels = [(span.end_ms - span.start_ms) / length_ms * _WIDTH if length_ms > 0 else 0.0 for span in shown]
    return go.Bar(
        x=np.array([(span.end_ms - span.start_ms) * factor for span in shown]),
        base=np.array([span.start_ms * factor for span in shown]),
        y=np.array([span.lane + _BAR * (0.5 - (span.low + span.high) / 2) for span in shown]),
        width=np.array([_BAR * (span.high - span.low) for span in shown]),
        orientation="h",
        name=LAYERS if kind is None else BUCKETS[kind],
        marker={
            "color": color,
            "line": {"width": [1 if px >= _BORDERED_PX else 0 for px in pixels], "color": theme.surface},
            "pattern": hatching(shape, theme),
        },
        text=[_fitting(span, px) for span, px in zip(shown, pixels, strict=True)],
        textposition="inside",
        insidetextanchor="middle",
        constraintext="none",
        textangle=0,
        textfont={"size": 11, "color": theme.surface},
        customdata=np.array([span.layers[0] if span.layers else "" for span in shown], dtype=object),
        hovertext=np.array([_hover(span, kind) for span in shown], dtype=object),
        hoverinfo="text",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _fitting(span: Span, pixels: float) -> str:
    """The operator, or how many kernels; nothing where hardly a letter would fit."""
    text = span.op if span.count == 1 else f"{span.count} kernels"
    room = int(pixels / _CHARACTER_PX)
    return short_plain(text, room) if room >= min(_FEWEST_LETTERS, len(text)) else ""


def _hover(span: Span, kind: str | None) -> str:
    what = "" if kind is None else f" · {BUCKETS[kind]}"
    if span.count > 1:
        head = f"<b>{span.count} kernels, {quantities.time_ms(span.own_ms)}</b>{what}"
        longest = f"Longest: {plain(span.op)} {short_plain(span.name, 60)}, {quantities.time_ms(span.longest_ms)}"
        return "<br>".join([head, longest, *_layers(span), "Zoom in to see each"])
    head = f"<b>{short_plain(span.name, 80)}</b><br>{plain(span.op)}{what} · {quantities.time_ms(span.own_ms)}"
    length = span.end_ms - span.start_ms
    inside = f"{quantities.time_ms(length)} with what runs inside" if length > 1.001 * span.own_ms else ""
    start = f"Starts at {quantities.time_ms(span.start_ms)}"
    return "<br>".join(filter(None, [head, inside, start, *_layers(span)]))


def _layers(span: Span) -> list[str]:
    """The layers it contains, the first few by name."""
    if not span.layers:
        return []
    named = [short_plain(layer, 60) for layer in span.layers[:_MOST_NAMED]]
    more = len(span.layers) - len(named)
    word = "Layer" if len(span.layers) == 1 else "Layers"
    return [f"{word}: {', '.join(named)}{f' and {more} more' if more else ''}"]


def _lay_out(figure: go.Figure, theme: FigureTheme, *, lanes: int, window: Window, unit: str) -> None:
    figure.update_layout(
        barmode="overlay",
        hovermode="closest",
        dragmode="zoom",
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1.0,
            "yanchor": "bottom",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        margin={"l": 8, "r": 8, "t": 34, "b": 40},
        uirevision=f"{window}",
    )
    figure.update_xaxes(
        range=list(window),
        title={"text": f"{unit} since the run began", "font": {"color": theme.muted, "size": 11}},
        tickfont={"color": theme.muted, "size": 11},
        gridcolor=theme.missing,
        zeroline=False,
    )
    names = [
        "the graph",
        *(f"inside {'a container' if lane == 1 else f'{lane} containers'}" for lane in range(1, lanes)),
    ]
    figure.update_yaxes(
        range=[lanes - 0.5, -0.5],
        tickvals=list(range(lanes)) if lanes > 1 else [],
        ticktext=names,
        tickfont={"color": theme.muted, "size": 11},
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
