"""The Profile page's map: the graph coloured by one figure, and beside it the card of the chosen layer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.figures.heat_map import heat_map
from dashboard.layer_views import MEASURES, LayerView, Measure, measure
from dashboard.services import Document
from dashboard.widgets import layer_card, layer_choice


def map_and_card(views: Sequence[LayerView], inspection: Document, *, measured: bool) -> None:
    """The heat map, and beside it the layer that is chosen."""
    left, right = st.columns([3, 1], gap="small")
    with left, st.container(border=True, gap="small"):
        colour = _colour_by(measured=measured)
        selected = layer_choice.chosen({view.id for view in views})
        figure = heat_map(views, inspection["layout"], colour, layer_choice.theme(), selected=selected)
        alt = f"Graph of {len(views)} layers from left to right, coloured by {colour.label}"
        layer_choice.chart(figure, key="profile.map", alt=alt)
    with right:
        layer_card.draw(views, selected)


def _colour_by(*, measured: bool) -> Measure:
    offered = [known for known in MEASURES if measured or not known.measured]
    labels = {known.key: known.label for known in offered}
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Colour by", width="content")
        key = st.segmented_control(
            "Colour by",
            list(labels),
            default=offered[0].key,
            format_func=labels.__getitem__,
            key="profile.colour" if measured else "profile.colour.before",
            label_visibility="collapsed",
            required=True,
        )
    return measure(key or offered[0].key)
