"""The Profile page's explorer: map, card and details, which a click runs anew without the rest of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.kept import kept
from dashboard.layer_views import LayerView, layer_views
from dashboard.services import Document, Subject
from dashboard.settled import settle
from dashboard.widgets import layer_card, layer_choice, link_notes, profile_details, profile_map

_OPENED = "profile.opened"


def draw(on: Subject, inspection: Document, document: Document | None) -> None:
    """Everything in which a layer can be chosen."""
    st.session_state[_OPENED] = True
    _explore(on, inspection, document)


@st.fragment
def _explore(on: Subject, inspection: Document, document: Document | None) -> None:
    """Draws the map first where the page is opened: a browser takes longest for it. After a click it comes last."""
    opened = st.session_state.pop(_OPENED, False)
    views = _views(inspection, document)
    known = {view.id for view in views}
    link_notes.layer(known)
    left, right = st.columns([3, 1], gap="small")
    below = st.container()

    def draw_map() -> None:
        with left:
            profile_map.draw(on.model.sha256, views, inspection, measured=document is not None)

    if opened:
        draw_map()
    with right, st.container(key="profile.card"):
        layer_card.draw(views, layer_choice.chosen(known))
    if document is not None:
        with below:
            profile_details.details(on, views, document)
    if not opened:
        draw_map()


@kept
def _views(inspection: Mapping[str, Any], document: Mapping[str, Any] | None) -> tuple[LayerView, ...]:
    views = layer_views(inspection, document)
    settle()
    return views
