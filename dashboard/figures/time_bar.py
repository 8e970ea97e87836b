"""Time bar: one profiled run as one bar - layers, then what belongs to no layer, then the time between kernels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.theme import FigureTheme, bare_figure

#: Bucket -> what it is, in words.
BUCKETS: Mapping[str, str] = {
    "reorder": "layout changes",
    "quantize": "quantize and dequantize",
    "cast": "casts",
    "copy": "copies",
    "unattributed": "unattributed",
}
#: What the shares of the bar are of; those of single layers and of the advice are of the kernel time alone.
_OF = " of the instrumented run"
#: Bucket -> its colour and its hatching, so that colour is never the only sign.
BUCKET_LOOKS: Mapping[str, tuple[str, str]] = {
    "reorder": ("#56B4E9", ""),
    "quantize": ("#E69F00", "/"),
    "cast": ("#CC79A7", "\\"),
    "copy": ("#009E73", "x"),
    "unattributed": ("#D55E00", "."),
}
LAYERS, GAP = "layers", "between kernels"


def time_bar(profile: Mapping[str, Any], theme: FigureTheme) -> go.Figure:
    """The bar of a `profile` document; parts that took no time are left out.

    Args:
        profile: the `profile` document.
        theme: light or dark.
    """
    figure = bare_figure(theme, height=116)
    whole = profile.get("instrumented_ms")
    for name, ms, color, shape in _parts(profile, theme):
        share = f" · {quantities.share(ms / whole)}" if whole else ""
        figure.add_trace(
            go.Bar(
                x=[ms],
                y=[""],
                orientation="h",
                name=f"{name} {quantities.time_ms(ms)}{share}",
                marker={
                    "color": color,
                    "line": {"width": 1, "color": theme.surface},
                    "pattern": hatching(shape, theme),
                },
                hovertext=f"{name}<br>{quantities.time_ms(ms)}{share}{_OF if share else ''}",
                hoverinfo="text",
            )
        )
    figure.update_layout(
        barmode="stack",
        showlegend=True,
        legend={
            "title": {"text": f"Time and share{_OF}:" if whole else "", "font": {"color": theme.muted}},
            "orientation": "h",
            "x": 0,
            "y": -0.15,
            "yanchor": "top",
            "traceorder": "normal",
            "itemclick": False,
        },
        margin={"l": 0, "r": 0, "t": 4, "b": 64},
        bargap=0.2,
    )
    figure.update_xaxes(visible=False, range=[0, sum(ms for _, ms, _, _ in _parts(profile, theme)) or 1])
    figure.update_yaxes(visible=False)
    return figure


def hatching(shape: str, theme: FigureTheme) -> dict[str, Any]:
    """The pattern of a bar; none for an empty shape."""
    return {"shape": shape, "size": 5, "solidity": 0.25, "fgcolor": theme.surface}


def _parts(profile: Mapping[str, Any], theme: FigureTheme) -> list[tuple[str, float, str, str]]:
    layers = sum(row.get("ms") or 0.0 for row in profile.get("layers", ()))
    parts = [(LAYERS, layers, theme.accent, "")]
    buckets = profile.get("buckets") or {}
    parts += [(name, buckets.get(bucket) or 0.0, *BUCKET_LOOKS[bucket]) for bucket, name in BUCKETS.items()]
    parts.append((GAP, profile.get("gap_ms") or 0.0, theme.line, ""))
    return [part for part in parts if part[1] > 0]
