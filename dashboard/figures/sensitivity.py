"""Sensitivity: what is left of the output's fidelity when one group alone is lowered, the most sensitive first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from core.report import quantities
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import FigureTheme, bare_figure, precision_color

#: How many groups are shown; the rest are less sensitive.
MOST_GROUPS = 20
_ROW_PX = 22
_AXIS_PX = 56


def sensitivity_bars(scores: Sequence[Mapping[str, Any]], theme: FigureTheme) -> go.Figure:
    """One bar for each of the most sensitive groups.

    Args:
        scores: rows {"group", "precision", "sqnr_db"}.
        theme: light or dark.
    """
    known = sorted((row for row in scores if row.get("sqnr_db") is not None), key=lambda row: float(row["sqnr_db"]))
    shown = known[:MOST_GROUPS]
    figure = bare_figure(theme, height=_ROW_PX * max(len(shown), 1) + _AXIS_PX)
    figure.add_trace(
        go.Bar(
            x=np.array([row["sqnr_db"] for row in shown], dtype=float),
            y=np.arange(len(shown)),
            orientation="h",
            marker={"color": [precision_color(row["precision"]) for row in shown]},
            text=[f"{quantities.three(row['sqnr_db'])} dB" for row in shown],
            textposition="outside",
            textfont={"color": theme.text, "size": 11},
            hovertext=[f"<b>{plain(row['group'])}</b><br>{row['precision']} alone" for row in shown],
            hoverinfo="text",
            cliponaxis=False,
        )
    )
    figure.update_xaxes(
        title={"text": "SQNR (dB) with only this group lowered; lower is more sensitive", "font": {"size": 11}},
        tickfont={"color": theme.muted, "size": 11},
        gridcolor=theme.missing,
        rangemode="tozero",
    )
    figure.update_yaxes(
        tickvals=np.arange(len(shown)),
        ticktext=[short_plain(row["group"], 40) for row in shown],
        autorange="reversed",
        automargin=True,
        showgrid=False,
    )
    figure.update_layout(margin={"l": 8, "r": 60, "t": 8, "b": 8}, bargap=0.3)
    return figure
