"""Shapes on the Profile page: how the time of each layer grows with the size of the input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import services
from dashboard.figures.growth import MOST_LINES, curves, growth_chart, in_words, told_sizes
from dashboard.kept import kept
from dashboard.layer_tables import growth_table
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.tables import Table
from dashboard.widgets import layer_choice, profile_growth
from dashboard.widgets.text import plain

_TABLE_PX = 320
_UNKNOWN = "This profile was measured at one size."


def draw(views: Sequence[LayerView], document: Document) -> None:
    """Chart and table of what was measured."""
    on = services.subject()
    if on is not None:
        profile_growth.growth_form(on)
    growth = document.get("growth")
    if not growth or not growth.get("points"):
        st.caption(_UNKNOWN)
        return
    selected = layer_choice.chosen({view.id for view in views})
    st.caption(plain(f"Latency without the profiler: {told_sizes(growth['points'])}."))
    layer_choice.chart(
        growth_chart(growth, layer_choice.theme(), selected=selected),
        key="profile.growth",
        alt="Time of layers over the number of input elements, both logarithmic",
    )
    st.caption(plain(told_growth(growth, selected)))
    table = _table(growth, views)
    layer_choice.table(table, key="profile.growth.table", height=_TABLE_PX, alt="Time of each layer at each size")


def told_growth(growth: Mapping[str, Any], selected: str | None) -> str:
    """How the chosen layer grows, and what is drawn."""
    known = curves(growth)
    drawn = f"Drawn: the {min(MOST_LINES, len(known))} layers that take longest at the largest input."
    curve = next((curve for curve in known if curve.layer == selected), None)
    if curve is None:
        return drawn if selected is None else f"{drawn} The chosen layer {selected} took no time at any of these sizes."
    return (
        f"{selected} {in_words(curve.exponent)}."
        if curve.exponent is not None
        else f"How {selected} grows is not known."
    )


@kept
def _table(growth: Mapping[str, Any], views: Sequence[LayerView]) -> Table:
    return growth_table(growth, {view.id: view.op for view in views})
