"""Intervals: ratios with their 95 % intervals on one logarithmic axis, against the line of no change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.labels import short_plain
from dashboard.figures.theme import FigureTheme, bare_figure

_ROW_PX = 30
_AXIS_PX = 44
_TICKS = (0.1, 0.2, 0.25, 0.33, 0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)


@dataclass(frozen=True, slots=True)
class RatioRow:
    """One ratio: above 1 is better. `ci95` is None where only the point is known."""

    label: str
    value: float
    ci95: tuple[float, float] | None


def ratio_bars(rows: Sequence[RatioRow], theme: FigureTheme, *, better: str = "faster or smaller") -> go.Figure:
    """One line per ratio: a dot with its interval and its figure written beside it.

    Args:
        rows: ratios, from top to bottom.
        theme: light or dark.
        better: what being right of the line of no change means.
    """
    figure = bare_figure(theme, height=_ROW_PX * len(rows) + _AXIS_PX)
    low, high = _range(rows)
    figure.add_vline(x=1.0, line={"color": theme.muted, "width": 1, "dash": "dot"})
    labels = [short_plain(row.label, 28) for row in rows]
    figure.add_trace(_dots(rows, labels, theme))
    figure.add_trace(
        go.Scatter(
            x=[max(row.value, *(row.ci95 or ())) if row.ci95 else row.value for row in rows],
            y=labels,
            mode="text",
            text=[f"  {quantities.ratio(row.value)}" for row in rows],
            textposition="middle right",
            textfont={"color": theme.text, "size": 12},
            hoverinfo="skip",
            cliponaxis=False,
        )
    )
    ticks = [tick for tick in _TICKS if low <= tick <= high]
    figure.update_xaxes(
        type="log",
        range=[math.log10(low), math.log10(high)],
        tickvals=ticks,
        ticktext=[f"{tick:g}x" for tick in ticks],
        tickfont={"color": theme.muted, "size": 11},
        title={"text": f"ratio before ÷ after (right of 1x: {better})", "font": {"color": theme.muted, "size": 11}},
        gridcolor=theme.missing,
        zeroline=False,
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, automargin=True, ticks="")
    return figure


def _dots(rows: Sequence[RatioRow], labels: Sequence[str], theme: FigureTheme) -> go.Scatter:
    return go.Scatter(
        x=[row.value for row in rows],
        y=list(labels),
        mode="markers",
        marker={"size": 9, "color": [theme.accent if _differs(row) else theme.muted for row in rows]},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row.ci95[1] - row.value if row.ci95 else 0 for row in rows],
            "arrayminus": [row.value - row.ci95[0] if row.ci95 else 0 for row in rows],
            "color": theme.text,
            "thickness": 1.5,
            "width": 4,
        },
        hovertext=[_hover(row) for row in rows],
        hoverinfo="text",
        cliponaxis=False,
    )


def _range(rows: Sequence[RatioRow]) -> tuple[float, float]:
    ends = [1.0, *(row.value for row in rows), *(end for row in rows if row.ci95 for end in row.ci95)]
    return min(0.8, 0.75 * min(end for end in ends if end > 0)), max(1.25, 1.45 * max(ends))


def _differs(row: RatioRow) -> bool:
    """Whether the interval, where there is one, leaves out "no change"."""
    return row.ci95 is not None and not row.ci95[0] <= 1 <= row.ci95[1]


def _hover(row: RatioRow) -> str:
    interval = f"<br>95 % interval {quantities.ratio_range(row.ci95)}" if row.ci95 else ""
    return f"<b>{short_plain(row.label, 60)}</b><br>{quantities.ratio(row.value)}{interval}"
