"""One selection through all: whatever chart or table a layer is clicked in, it becomes the layer of the link."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.figures.theme import FigureTheme, figure_theme
from dashboard.figures.areas import layer_of_area
from dashboard.run_tables import SCROLL_BAR_PX
from dashboard.tables import Table

_ROW_PX = 35
_NO_BAR = {"displayModeBar": False}


def theme() -> FigureTheme:
    """The theme for figures on the page as this visitor sees it."""
    return figure_theme(st.context.theme.type)


def chosen(known: Collection[str]) -> str | None:
    """The layer of the link, if the model has it."""
    layer = state.LAYER.get()
    return layer if layer in known else None


def chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """A map or treemap in which a click chooses a layer."""
    st.plotly_chart(
        figure,
        key=key,
        on_select=lambda: _from_chart(key),
        selection_mode="points",
        config=_NO_BAR,
        alt=alt,
    )


def still_chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """A figure without choices."""
    st.plotly_chart(figure, key=key, config=_NO_BAR, alt=alt)


def table(shown: Table, *, key: str, height: int, alt: str) -> None:
    """A table in which a click on a row chooses its layer."""
    st.dataframe(
        shown.frame,
        column_config=shown.config,
        hide_index=True,
        height=table_height(len(shown.ids), height),
        key=key,
        on_select=lambda: _from_table(key, shown),
        selection_mode="single-row",
        placeholder="–",
        alt=alt,
    )


def table_height(rows: int, most: int) -> int:
    """Pixels for that many rows, the header and a bar to scroll sideways, at most `most`."""
    return min(most, _ROW_PX * (max(rows, 1) + 1) + 3 + SCROLL_BAR_PX)


def layer_of_points(points: Sequence[Any]) -> str | None:
    """The layer of a clicked cell (its custom data) or area (its id); None where a module was clicked."""
    if not points:
        return None
    first = points[0]
    custom = first.get("customdata")
    if custom:
        return str(custom[0] if isinstance(custom, list | tuple) else custom)
    return layer_of_area(first.get("id"))


def _from_chart(key: str) -> None:
    layer = layer_of_points(st.session_state[key].selection.points)
    if layer is not None:
        state.LAYER.set(layer)


def _from_table(key: str, shown: Table) -> None:
    layers = shown.ids_at(st.session_state[key].selection.rows)
    if layers:
        state.LAYER.set(layers[0])
