"""Colours of figures: one heat scale and one palette of precisions, the same meaning on every page, light and dark.

The heat scale is cividis (perceptually even, safe for colour-blind readers). A high value always stands out from the
page: on a light page the scale runs from pale to deep blue, on a dark page from deep blue to yellow.
Precisions wear Okabe-Ito colours, and a letter beside them, so that colour is never the only sign.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

Kind = Literal["light", "dark"]
Stops = tuple[tuple[float, str], ...]

#: Precision -> colour (Okabe-Ito where it has one).
PRECISION_COLORS: dict[str, str] = {
    "fp32": "#7F7F7F",
    "fp16": "#56B4E9",
    "bf16": "#0072B2",
    "int8": "#E69F00",
    "int8-dynamic": "#D55E00",
    "int8-weights": "#B8A400",
    "int4-weights": "#CC79A7",
    "a16w8": "#7A5195",
    "fp8": "#009E73",
}

#: Precision -> the letter code shown beside its colour.
PRECISION_LETTERS: dict[str, str] = {
    "fp32": "F",
    "fp16": "H",
    "bf16": "B",
    "int8": "I",
    "int8-dynamic": "D",
    "int8-weights": "W",
    "int4-weights": "4",
    "a16w8": "A",
    "fp8": "8",
}

_LIGHT_HEAT: Stops = (
    (0.0, "#F3E9B5"),
    (0.2, "#DCCB6E"),
    (0.4, "#B0A36F"),
    (0.6, "#7C7B78"),
    (0.8, "#434E6C"),
    (1.0, "#00224E"),
)
_DARK_HEAT: Stops = (
    (0.0, "#16305E"),
    (0.2, "#3B496C"),
    (0.4, "#656A70"),
    (0.6, "#958F78"),
    (0.8, "#CDBB63"),
    (1.0, "#FEE838"),
)


@dataclass(frozen=True, slots=True)
class FigureTheme:
    """What a figure needs to know of the page it lies on."""

    kind: Kind
    text: str
    muted: str
    line: str
    surface: str
    missing: str
    accent: str
    heat: Stops


LIGHT = FigureTheme("light", "#1B1F23", "#667078", "#BCC3C8", "#FBFBF9", "#E3E6E8", "#0B7A75", _LIGHT_HEAT)
DARK = FigureTheme("dark", "#E6E9EC", "#98A3AC", "#55606A", "#101418", "#2A3138", "#3FC1B0", _DARK_HEAT)


def figure_theme(kind: str | None) -> FigureTheme:
    """The theme for "dark"; light for everything else."""
    return DARK if kind == "dark" else LIGHT


def precision_label(precision: str) -> str:
    """Letter and name: "I int8"."""
    return f"{PRECISION_LETTERS.get(precision, '?')} {precision}"


def precision_color(precision: str) -> str:
    """The colour of a precision; a neutral grey for one that has none."""
    return PRECISION_COLORS.get(precision, "#9AA3AA")


def heat_color(stops: Stops, fraction: float) -> str:
    """The colour at `fraction` (0..1) of a scale, as "#RRGGBB"."""
    at = min(1.0, max(0.0, fraction))
    for (low, low_color), (high, high_color) in itertools.pairwise(stops):
        if at <= high:
            return _mix(low_color, high_color, (at - low) / (high - low))
    return stops[-1][1]


def ink_on(color: str) -> str:
    """Black or white, whichever is easier to read on this colour (WCAG relative luminance)."""
    red, green, blue = (_linear(channel / 255) for channel in _channels(color))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "#000000" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "#FFFFFF"


def bare_figure(theme: FigureTheme, *, height: int) -> go.Figure:
    """An empty figure with a transparent background, the page's text colour and no margins to spare."""
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": theme.text, "size": 12},
        hoverlabel={
            "bgcolor": theme.surface,
            "bordercolor": theme.line,
            "font": {"color": theme.text},
            "align": "left",
        },
        showlegend=False,
    )
    return figure


def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _mix(low: str, high: str, fraction: float) -> str:
    pairs = zip(_channels(low), _channels(high), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * fraction):02X}" for a, b in pairs)


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
