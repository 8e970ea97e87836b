"""Memory curve: the bytes of activations that are alive while each layer runs, in order, with the peak marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.labels import short_plain
from dashboard.figures.theme import FigureTheme, bare_figure, heat_color

#: More steps than these cannot be told apart: neighbours are put together, as high as the highest of them.
MOST_STEPS = 800
_HEIGHT = 340
#: Lines this many times above the curve would press it flat.
_NEAR = 2.5
#: How far the fill of the curve lies from the page towards the accent.
_FILL = 0.45


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the curve, or the highest of several: first and last position, its layer and what is alive."""

    first: int
    last: int
    layer: str
    live_bytes: float


def memory_curve(memory: Mapping[str, Any], theme: FigureTheme, *, height: int = _HEIGHT) -> go.Figure:
    """The curve of a profile's `memory`; a click on a step names its layer.

    Args:
        memory: the `memory` object of a `profile` document.
        theme: light or dark.
        height: pixels.
    """
    steps = curve_steps(memory.get("steps") or ())
    factor, unit = _unit(max((step.live_bytes for step in steps), default=0.0))
    figure = bare_figure(theme, height=height)
    figure.add_trace(_bars(steps, memory, factor, theme))
    figure.add_trace(_edge(steps, factor, theme))
    _mark_peak(figure, steps, memory, factor, theme)
    top = _add_levels(figure, steps, memory, factor, theme)
    _lay_out(figure, theme, unit=unit, top=top * factor * 1.16, last=steps[-1].last if steps else 0)
    return figure


def boxes_of(memory: Mapping[str, Any], layer: str) -> list[tuple[float, float, float, float]]:
    """Where a layer is on the curve (x0, x1, y0, y1): its step, and the life of what it holds at the peak."""
    rows = memory.get("steps") or ()
    factor, _ = _unit(max((float(row["bytes"]) for row in rows), default=0.0))
    position = {row["layer"]: number for number, row in enumerate(rows)}
    if layer not in position:
        return []
    step = next(step for step in curve_steps(rows) if step.first <= position[layer] <= step.last)
    found = [(step.first + 0.5, step.last + 1.5, 0.0, step.live_bytes * factor)]
    for holder in memory.get("holders") or ():
        start, end = position.get(holder.get("from")), position.get(holder.get("to"))
        if holder.get("layer") == layer and start is not None and end is not None:
            found.append((start + 0.5, end + 1.5, 0.0, float(holder["bytes"]) * factor))
    return found


def curve_steps(rows: Sequence[Mapping[str, Any]], most: int = MOST_STEPS) -> list[Step]:
    """The steps in order, at most `most`: each of several is as high as its highest."""
    each = max(1, -(-len(rows) // most))
    found = []
    for start in range(0, len(rows), each):
        part = rows[start : start + each]
        highest = max(part, key=lambda row: float(row["bytes"]))
        found.append(Step(start, start + len(part) - 1, str(highest["layer"]), float(highest["bytes"])))
    return found


def levels(memory: Mapping[str, Any]) -> list[tuple[str, float]]:
    """What else is known of the model's memory, with its name; without what is not known."""
    known = (("planned, with reuse", "planned_bytes"), ("the runtime's arena", "arena_peak_bytes"))
    return [(name, float(memory[key])) for name, key in known if memory.get(key)]


def _bars(
    steps: Sequence[Step],
    memory: Mapping[str, Any],
    factor: float,
    theme: FigureTheme,
) -> go.Bar:
    calm = heat_color(((0.0, theme.surface), (1.0, theme.accent)), _FILL)
    colors = [theme.accent if step.layer == memory.get("peak_at") else calm for step in steps]
    return go.Bar(
        x=np.array([(step.first + step.last) / 2 + 1 for step in steps]),
        y=np.array([step.live_bytes * factor for step in steps]),
        width=np.array([step.last - step.first + 1 for step in steps]),
        marker={"color": colors, "line": {"width": 0}},
        customdata=np.array([step.layer for step in steps], dtype=object),
        hovertext=np.array([_hover(step) for step in steps], dtype=object),
        hoverinfo="text",
        name="alive",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _hover(step: Step) -> str:
    where = f"Step {step.first + 1}"
    if step.last > step.first:
        where = f"Highest of the steps {step.first + 1} to {step.last + 1}"
    return f"<b>{short_plain(step.layer, 80)}</b><br>{where}<br>{quantities.size(step.live_bytes)} alive"


def _edge(steps: Sequence[Step], factor: float, theme: FigureTheme) -> go.Scatter:
    """The line over the steps."""
    xs = [at for step in steps for at in (step.first + 0.5, step.last + 1.5)]
    ys = [step.live_bytes * factor for step in steps for _ in range(2)]
    line = {"color": theme.accent, "width": 1.5}
    return go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", name="edge")


def _mark_peak(
    figure: go.Figure, steps: Sequence[Step], memory: Mapping[str, Any], factor: float, theme: FigureTheme
) -> None:
    peak = _peak(steps)
    if peak is None:
        return
    right = _is_right(peak, steps)
    named = short_plain(str(memory.get("peak_at") or peak.layer), 40)
    figure.add_annotation(
        x=(peak.first + peak.last) / 2 + 1,
        y=peak.live_bytes * factor,
        text=f"peak {quantities.size(peak.live_bytes)} · {named}",
        showarrow=False,
        xanchor="right" if right else "left",
        yanchor="bottom",
        font={"color": theme.text, "size": 12},
        bgcolor=theme.surface,
        name="peak",
    )


def _peak(steps: Sequence[Step]) -> Step | None:
    return max(steps, key=lambda step: step.live_bytes, default=None)


def _is_right(peak: Step, steps: Sequence[Step]) -> bool:
    """Whether the peak lies in the right half: its name is then written to the left of it."""
    return peak.first > steps[-1].last / 2


def _add_levels(
    figure: go.Figure, steps: Sequence[Step], memory: Mapping[str, Any], factor: float, theme: FigureTheme
) -> float:
    """Lines for what lies near the curve, named where the peak is not; returns the top (bytes) of what is shown."""
    peak = _peak(steps)
    if peak is None:
        return 0.0
    top = highest = peak.live_bytes
    side = "left" if _is_right(peak, steps) else "right"
    for (name, value), (dash, above) in zip(levels(memory), (("dash", "bottom"), ("dot", "top")), strict=False):
        if not 0 < value <= _NEAR * highest:
            continue
        top = max(top, value)
        figure.add_hline(
            y=value * factor,
            line={"color": theme.muted, "width": 1.5, "dash": dash},
            annotation={
                "text": f"{name} {quantities.size(value)}",
                "font": {"color": theme.muted, "size": 11},
                "bgcolor": theme.surface,
                "name": name,
            },
            annotation_position=f"{above} {side}",
        )
    return top


def _unit(top: float) -> tuple[float, str]:
    """One unit for the axis."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if top >= size:
            return 1 / size, unit
    return 1.0, "B"


def _lay_out(figure: go.Figure, theme: FigureTheme, *, unit: str, top: float, last: int) -> None:
    quiet = {"color": theme.muted, "size": 11}
    figure.update_layout(
        margin={"l": 8, "r": 8, "t": 16, "b": 40}, bargap=0, hovermode="closest", dragmode="zoom", uirevision="memory"
    )
    figure.update_xaxes(
        range=[0.5, last + 1.5],
        title={"text": "step: layers in the order in which they run", "font": quiet},
        tickfont=quiet,
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        range=[0, top or 1],
        title={"text": f"{unit} of activations alive", "font": quiet},
        tickfont=quiet,
        gridcolor=theme.missing,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
