"""What is set above the Profile page's map: the colour, how much is open, and the look from near."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from dashboard.figures.labels import shorten
from dashboard.figures.unfold import Nest, Shown
from dashboard.map_views import MapView, closed, default_opened, details, opening, to_close, to_open
from dashboard.state import MAP_VIEWS
from dashboard.widgets.text import plain

_NAME_LENGTH = 22
_BY_HAND = "By hand"
_ICONS = {"Open": "unfold_more", "Collapse": "unfold_less"}


def colour(labels: Mapping[str, str]) -> str:
    """The choice of what colours the cells; returns its key."""
    key = st.selectbox(
        "Colour by",
        list(labels),
        format_func=labels.__getitem__,
        key="profile.colour" if len(labels) > 2 else "profile.colour.before",
        label_visibility="collapsed",
        icon=":material/palette:",
        width=190,
    )
    return key or next(iter(labels))


def detail(sha256: str, nest: Nest | None) -> MapView:
    """The choice of how many modules are open; returns what the map shows."""
    view = MAP_VIEWS.get().get(sha256, MapView())
    if nest is None:
        return view
    view = replace(view, opened=default_opened(nest) if view.opened is None else view.opened)
    choices = {choice.label: choice.opened for choice in details(nest)}
    current = next((label for label, opened in choices.items() if opened == view.opened), _BY_HAND)
    labels = [*choices, *([_BY_HAND] if current == _BY_HAND else [])]
    st.session_state["profile.detail"] = current

    def choose() -> None:
        opened = choices.get(st.session_state["profile.detail"], view.opened)
        MAP_VIEWS.get()[sha256] = MapView(opened=opened)

    st.selectbox(
        "Detail",
        labels,
        key="profile.detail",
        label_visibility="collapsed",
        icon=":material/account_tree:",
        width=190,
        on_change=choose,
    )
    return view


def buttons(sha256: str, nest: Nest | None, shown: Shown, view: MapView, chosen: str | None) -> None:
    """Opens and closes the module of the chosen layer, and looks at the layer from near."""
    st.space("stretch")
    if nest is not None and view.near is None:
        collapsed, around = to_open(shown, chosen), to_close(nest, shown, chosen, view.last)
        if collapsed is not None:
            _named("Open", collapsed, nest, sha256, opening(nest, view, collapsed))
        if around is not None:
            _named("Collapse", around, nest, sha256, closed(nest, view, around))
    if view.near is not None:
        _set("Whole graph", "zoom_out", key="profile.whole", of=sha256, then=replace(view, near=None))
    if chosen is not None and chosen != view.near:
        _set("Zoom to selection", "zoom_in", key="profile.near", of=sha256, then=replace(view, near=chosen))


def _named(verb: str, path: str, nest: Nest, sha256: str, then: MapView) -> None:
    label = plain(f"{verb} {shorten(nest.named(path), _NAME_LENGTH)}")
    _set(label, _ICONS[verb], key=f"profile.{verb.lower()}", of=sha256, then=then, help_text=plain(path))


def _set(label: str, icon: str, *, key: str, of: str, then: MapView, help_text: str | None = None) -> None:
    """A button after which the map of the model `of` shows something else."""
    st.button(
        label,
        icon=f":material/{icon}:",
        key=key,
        type="tertiary",
        help=help_text,
        on_click=lambda: MAP_VIEWS.get().update({of: then}),
    )
