"""One selection through all: whatever chart or table a layer is clicked in, it becomes the layer of the link."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.figures.theme import FigureTheme, figure_theme
from dashboard.run_tables import SCROLL_BAR_PX
from dashboard.tables import Table
from dashboard.widgets import chart_touch
from dashboard.widgets.chart_touch import Box

_ROW_PX = 35
_NO_BAR = {"displayModeBar": False}


def theme() -> FigureTheme:
    """The theme for figures on the page as this visitor sees it."""
    return figure_theme(st.context.theme.type)


def chosen(known: Collection[str]) -> str | None:
    """The layer of the link, if the model has it."""
    layer = state.LAYER.get()
    return layer if layer in known else None


def chart(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    cells: Sequence[Box] = (),
    area: str | None = None,
    on_pick: Callable[[str], None] | None = None,
) -> None:
    """A map or treemap in which a click chooses a layer.

    Args:
        figure: without the chosen layer in it, it need not be drawn again when another one is chosen.
        key: of the chart.
        alt: what it shows, in words.
        cells: where the chosen layer is, in units of the axes; it is framed there.
        area: or the id of its area in a treemap or icicle.
        on_pick: told what was clicked, instead of choosing it as the layer.
    """
    with st.container(key=key, gap=None):
        st.plotly_chart(figure, key=f"{key}.chart", config=_NO_BAR, alt=alt)
        chart_touch.draw(key, cells=cells, area=area, color=theme().accent, on_pick=on_pick or state.LAYER.set)


def still_chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """A figure without choices."""
    st.plotly_chart(figure, key=key, config=_NO_BAR, alt=alt)


def table(shown: Table, *, key: str, height: int, alt: str) -> None:
    """A table in which a click on a row chooses its layer, and the row of the chosen layer is ticked."""
    st.session_state[key] = {"selection": {"rows": rows_of(shown, state.LAYER.get()), "columns": [], "cells": []}}
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


def rows_of(shown: Table, layer: str | None) -> list[int]:
    """The first row of that layer; none where the table does not have it."""
    return [] if not layer or layer not in shown.ids else [shown.ids.index(layer)]


def _from_table(key: str, shown: Table) -> None:
    """Chooses the layer of the ticked row; where its tick was taken away, none."""
    layers = shown.ids_at(st.session_state[key].selection.rows)
    if layers and layers[0]:
        state.LAYER.set(layers[0])
    elif state.LAYER.get() in shown.ids:
        state.LAYER.set(None)
