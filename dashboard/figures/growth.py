"""Growth: what each layer costs at several input sizes, both axes logarithmic: the slope is the exponent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import FigureTheme, bare_figure

#: So many layers are drawn; more lines hide each other.
MOST_LINES = 12
_HEIGHT = 420
_NAME_LENGTH = 34
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")
_DASHES = ("solid", "dash", "dot")
_WHOLE = "the whole run, in kernels"
#: Up to which exponent a layer grows in which words.
_WORDS = (
    (-0.15, "gets cheaper"),
    (0.15, "does not grow"),
    (0.85, "grows less than in proportion"),
    (1.15, "grows in proportion"),
    (1.85, "grows more than in proportion"),
    (2.15, "grows with the square"),
    (2.85, "grows faster than the square"),
    (3.15, "grows with the cube"),
)


@dataclass(frozen=True, slots=True)
class Curve:
    """One layer: its time (ms) at each point that ran it, with the number of input elements, and the exponent."""

    layer: str
    elements: tuple[float, ...]
    ms: tuple[float, ...]
    exponent: float | None

    @property
    def largest_ms(self) -> float:
        """Its time at the largest input that ran it."""
        return self.ms[-1] if self.ms else 0.0


def growth_chart(
    growth: Mapping[str, Any], theme: FigureTheme, *, selected: str | None = None, height: int = _HEIGHT
) -> go.Figure:
    """The layers that take longest at the largest input, the whole run, and the chosen layer.

    Args:
        growth: the `growth` object of a `profile` document.
        theme: light or dark.
        selected: the layer that is drawn in any case, and thick.
        height: pixels.
    """
    known = curves(growth)
    shown = [curve for number, curve in enumerate(known) if number < MOST_LINES or curve.layer == selected]
    figure = bare_figure(theme, height=height)
    figure.add_trace(_whole(growth, theme))
    for number, curve in enumerate(shown):
        figure.add_trace(_line(curve, number, theme, chosen=curve.layer == selected))
    _lay_out(figure, growth, theme)
    return figure


def curves(growth: Mapping[str, Any]) -> list[Curve]:
    """All layers that took time, those that take longest at the largest input first; points in order of size."""
    points = growth.get("points") or ()
    order = sorted(range(len(points)), key=lambda number: float(points[number]["elements"]))
    found = []
    for row in growth.get("layers") or ():
        times = row.get("ms") or ()
        ran = [number for number in order if number < len(times) and times[number]]
        if ran:
            elements = tuple(float(points[number]["elements"]) for number in ran)
            ms = tuple(float(times[number]) for number in ran)
            found.append(Curve(str(row["id"]), elements, ms, row.get("exponent")))
    return sorted(found, key=lambda curve: -curve.largest_ms)


def in_words(exponent: float | None) -> str:
    """How a time grows with the number of input elements: "grows in proportion"."""
    if exponent is None:
        return quantities.NOT_KNOWN
    return next((words for most, words in _WORDS if exponent <= most), "grows faster than the cube")


def _whole(growth: Mapping[str, Any], theme: FigureTheme) -> go.Scatter:
    points = sorted(growth.get("points") or (), key=lambda point: float(point["elements"]))
    known = [point for point in points if point.get("kernel_ms")]
    return go.Scatter(
        x=[point["elements"] for point in known],
        y=[point["kernel_ms"] for point in known],
        mode="lines+markers",
        line={"color": theme.text, "width": 2.5},
        marker={"symbol": "square", "size": 8},
        name=_WHOLE,
        hovertext=[
            f"<b>{plain(str(point['name']))}</b><br>{quantities.time_ms(point['kernel_ms'])} in kernels"
            f"<br>{quantities.count(point['elements'])} input elements"
            for point in known
        ],
        hoverinfo="text",
    )


def _line(curve: Curve, number: int, theme: FigureTheme, *, chosen: bool) -> go.Scatter:
    color = theme.accent if chosen else _COLORS[number % len(_COLORS)]
    told = in_words(curve.exponent)
    power = "" if curve.exponent is None else f" (exponent {quantities.three(curve.exponent)})"
    return go.Scatter(
        x=list(curve.elements),
        y=list(curve.ms),
        mode="lines+markers",
        line={
            "color": color,
            "width": 4 if chosen else 1.5,
            "dash": "solid" if chosen else _DASHES[number // len(_COLORS) % len(_DASHES)],
        },
        marker={"size": 9 if chosen else 6},
        name=short_plain(curve.layer, _NAME_LENGTH),
        customdata=[curve.layer] * len(curve.ms),
        hovertext=[
            f"<b>{short_plain(curve.layer, 80)}</b><br>{quantities.time_ms(ms)}<br>{told}{power}" for ms in curve.ms
        ],
        hoverinfo="text",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _lay_out(figure: go.Figure, growth: Mapping[str, Any], theme: FigureTheme) -> None:
    quiet = {"color": theme.muted, "size": 11}
    points = sorted(growth.get("points") or (), key=lambda point: float(point["elements"]))
    figure.update_xaxes(
        type="log",
        tickvals=[point["elements"] for point in points],
        ticktext=[f"{plain(str(point['name']))}<br>{quantities.count(point['elements'])}" for point in points],
        tickfont=quiet,
        title={"text": "input elements", "font": quiet},
        gridcolor=theme.missing,
        zeroline=False,
        automargin=True,
    )
    figure.update_yaxes(
        type="log",
        title={"text": "ms per run", "font": quiet},
        tickfont=quiet,
        gridcolor=theme.missing,
        zeroline=False,
        automargin=True,
        dtick=1,
    )
    figure.update_layout(
        showlegend=True,
        legend={"x": 1.01, "y": 1, "xanchor": "left", "itemclick": False},
        margin={"l": 8, "r": 8, "t": 16, "b": 44},
        hovermode="closest",
        dragmode=False,
        uirevision="growth",
    )


def told_sizes(points: Sequence[Mapping[str, Any]]) -> str:
    """The sizes that were measured: "short (x 1x64) 1.20 ms, long (x 1x512) 9.10 ms"."""
    told = []
    for point in points:
        shapes = ", ".join(f"{name} {quantities.shape(dims)}" for name, dims in (point.get("shapes") or {}).items())
        median = (point.get("wall_ms") or {}).get("median")
        told.append(f"{point['name']} ({shapes}) {quantities.time_ms(median)}")
    return "; ".join(told)
