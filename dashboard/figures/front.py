"""Front: every mix that a search timed, latency against fidelity, those that keep the target and those that do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.theme import FigureTheme, bare_figure

_HEIGHT = 320


def front(points: Sequence[Mapping[str, Any]], theme: FigureTheme, *, chosen_bytes: int | None = None) -> go.Figure:
    """The front of an `optimize` document; mixes that were not timed have no latency and are left out.

    Args:
        points: the document's "front".
        theme: light or dark.
        chosen_bytes: file size of the mix that was taken, which is how it is found among the points.
    """
    timed = [point for point in points if point.get("latency_ms") is not None and point.get("sqnr_db") is not None]
    kept = [point for point in timed if point.get("accepted")]
    best = _not_beaten(kept)
    figure = bare_figure(theme, height=_HEIGHT)
    line = {"color": theme.accent, "width": 1}
    xs, ys = _places(best)
    figure.add_trace(go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip", showlegend=False))
    figure.add_trace(_points(kept, "keeps the target", {"color": theme.accent, "size": 10}))
    missed = [point for point in timed if not point.get("accepted")]
    hollow = {"color": "rgba(0,0,0,0)", "size": 10, "line": {"color": theme.muted, "width": 1.5}}
    figure.add_trace(_points(missed, "misses the target", hollow))
    chosen = [point for point in kept if point.get("bytes") == chosen_bytes]
    ring = {"color": "rgba(0,0,0,0)", "size": 18, "line": {"color": theme.text, "width": 1.5}}
    figure.add_trace(_points(chosen, "taken", ring))
    axis = {"gridcolor": theme.missing, "zeroline": False, "tickfont": {"color": theme.muted, "size": 11}}
    figure.update_xaxes(**axis, title={"text": "latency (ms), further left is faster", "font": {"size": 11}})
    figure.update_yaxes(**axis, title={"text": "SQNR (dB), higher is closer to the original", "font": {"size": 11}})
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0})
    return figure


def _not_beaten(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Points that no other beats in both figures, the fastest first."""
    best: list[Mapping[str, Any]] = []
    for point in sorted(points, key=lambda entry: (entry["latency_ms"], -entry["sqnr_db"])):
        if not best or point["sqnr_db"] > best[-1]["sqnr_db"]:
            best.append(point)
    return best


def _points(points: Sequence[Mapping[str, Any]], name: str, marker: Mapping[str, Any]) -> go.Scatter:
    xs, ys = _places(points)
    hovers = [
        f"{point.get('groups')} groups lowered<br>{quantities.time_ms(point['latency_ms'])}"
        f"<br>{quantities.with_unit(point['sqnr_db'], 'dB')}<br>{quantities.size(point.get('bytes'))}"
        for point in points
    ]
    style = {"mode": "markers", "marker": dict(marker), "name": name, "showlegend": bool(points)}
    return go.Scatter(x=xs, y=ys, hovertext=hovers, hoverinfo="text", **style)


def _places(points: Sequence[Mapping[str, Any]]) -> tuple[list[float], list[float]]:
    return [point["latency_ms"] for point in points], [point["sqnr_db"] for point in points]
