"""The sweep as a grid: threads x batch, coloured by throughput, the latency in each cell, the sweet spot framed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.labels import plain
from dashboard.figures.theme import FigureTheme, bare_figure, heat_color, ink_on

_ROW_PX = 58
_AXES_PX = 76
#: Half a cell, in the units of the axes.
_HALF = 0.5
_FRAME = 0.46

Cells = Sequence[Mapping[str, Any]]


def sweep_grid(document: Mapping[str, Any], theme: FigureTheme) -> go.Figure:
    """One cell for each number of threads (rows) and batch size (columns).

    Args:
        document: a `sweep` document, or what is known of one so far.
        theme: light or dark.
    """
    cells: Cells = document.get("cells") or ()
    threads = sorted({int(cell["threads"]) for cell in cells})
    batches = sorted({int(cell["batch"]) for cell in cells})
    placed = {(threads.index(cell["threads"]), batches.index(cell["batch"])): cell for cell in cells}
    rates = np.full((len(threads), len(batches)), np.nan)
    for place, cell in placed.items():
        rates[place] = cell["throughput"] if cell["throughput"] is not None else np.nan
    figure = bare_figure(theme, height=_ROW_PX * max(len(threads), 1) + _AXES_PX)
    most = float(np.nanmax(rates)) if np.isfinite(rates).any() else 1.0
    _colours(figure, rates, placed, most, theme)
    for (row, column), cell in placed.items():
        rate = cell["throughput"]
        ink = theme.muted if rate is None else ink_on(heat_color(theme.heat, rate / most))
        text = _text(cell, document.get("limit_ms"))
        figure.add_annotation(x=column, y=row, text=text, showarrow=False, font={"color": ink, "size": 12})
    spot = document.get("sweet_spot")
    if spot is not None:
        _frame(figure, threads.index(spot["threads"]), batches.index(spot["batch"]), theme)
    _axes(figure, threads, batches, {int(cell["threads"]) for cell in cells if cell["oversubscribed"]}, theme)
    return figure


def _colours(
    figure: go.Figure, rates: Any, placed: Mapping[tuple[int, int], Mapping[str, Any]], most: float, theme: FigureTheme
) -> None:
    told = [[hover(placed.get((row, column))) for column in range(rates.shape[1])] for row in range(rates.shape[0])]
    figure.add_trace(
        go.Heatmap(
            z=rates,
            x=list(range(rates.shape[1])),
            y=list(range(rates.shape[0])),
            zmin=0,
            zmax=most,
            colorscale=[list(stop) for stop in theme.heat],
            xgap=3,
            ygap=3,
            hovertext=told,
            hoverinfo="text",
            hoverongaps=True,
            colorbar={
                "title": {"text": "samples/s", "side": "right", "font": {"size": 11, "color": theme.muted}},
                "tickfont": {"color": theme.muted, "size": 11},
                "thickness": 10,
                "outlinewidth": 0,
            },
        )
    )


def hover(cell: Mapping[str, Any] | None) -> str:
    """All that is known of a cell."""
    if cell is None:
        return ""
    head = f"<b>{quantities.counted(cell['threads'], 'thread')}, batch {cell['batch']}</b>"
    latency = cell["latency_ms"]
    if latency is None:
        return f"{head}<br>{plain(str(cell['why'] or 'not measured yet'))}"
    low, high = (quantities.three(end) for end in cell["throughput_ci95"])
    lines = [
        head,
        f"{quantities.three(cell['throughput'])} samples/s, 95 %: {low}–{high}",
        f"latency {quantities.time_ms(latency['mean'])}, 95 %: {quantities.time_range(latency['ci95'])}",
        f"95 of 100 runs within {quantities.time_ms(latency['p95'])}",
        f"{quantities.counted(cell['runs'], 'run')}, {cell['disturbed']} disturbed",
    ]
    if latency["basis"] == "processor":
        lines.append("processor time: the machine was busy")
    if cell["oversubscribed"]:
        lines.append("more threads than processors")
    return "<br>".join(lines)


def _text(cell: Mapping[str, Any], limit_ms: float | None) -> str:
    """Samples per second, and below it the latency that 95 of 100 runs keep."""
    if cell["latency_ms"] is None:
        return "cannot run" if cell["why"] else "…"
    p95 = cell["latency_ms"]["p95"]
    late = " – too late" if limit_ms is not None and p95 > limit_ms else ""
    return f"<b>{quantities.three(cell['throughput'])}</b><br>{quantities.time_ms(p95)}{late}"


def _frame(figure: go.Figure, row: int, column: int, theme: FigureTheme) -> None:
    """A frame in the accent around the sweet spot, and the words on it: never colour alone."""
    line = {"color": theme.accent, "width": 3}
    corners = {"x0": column - _FRAME, "x1": column + _FRAME, "y0": row - _FRAME, "y1": row + _FRAME}
    figure.add_shape(type="rect", **corners, line=line)
    figure.add_annotation(
        x=column - _FRAME,
        y=row - _FRAME,
        text="sweet spot",
        showarrow=False,
        xanchor="left",
        yanchor="top",
        font={"color": ink_on(theme.accent), "size": 10},
        bgcolor=theme.accent,
        borderpad=1,
    )


def _axes(
    figure: go.Figure, threads: Sequence[int], batches: Sequence[int], beyond: set[int], theme: FigureTheme
) -> None:
    ticks = {"tickfont": {"color": theme.muted, "size": 12}, "showgrid": False, "zeroline": False, "fixedrange": True}
    figure.update_xaxes(
        **ticks,
        tickvals=list(range(len(batches))),
        ticktext=[str(batch) for batch in batches],
        title={"text": "samples per run (batch)", "font": {"size": 11, "color": theme.muted}},
        range=[-_HALF, len(batches) - _HALF],
    )
    figure.update_yaxes(
        **ticks,
        tickvals=list(range(len(threads))),
        ticktext=[f"{count} (more than<br>processors)" if count in beyond else str(count) for count in threads],
        title={"text": "threads", "font": {"size": 11, "color": theme.muted}},
        range=[len(threads) - _HALF, -_HALF],
        automargin=True,
    )
