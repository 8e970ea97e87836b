"""Modules on the Profile page: one figure by module, as a treemap or as an icicle."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.figures.areas import CLOSED, REST, area_of, layer_of_area, module_of_area
from dashboard.figures.icicle import icicle
from dashboard.figures.theme import FigureTheme
from dashboard.figures.treemap import treemap
from dashboard.kept import kept
from dashboard.layer_views import MEASURES, LayerView, Measure, measure
from dashboard.widgets import layer_choice
from dashboard.widgets.segments import segments
from dashboard.widgets.text import plain

#: The module that is looked at in detail after a click on it.
_NEAR = "profile.modules.near"
_DRAWN = {"treemap": "Treemap", "icicle": "Icicle"}


def draw(views: Sequence[LayerView], name: str) -> None:
    """Choices, the figure, and how to read it."""
    offered = {known.key: known.label for known in MEASURES if known.adds_up and _has_any(views, known.key)}
    chosen = next((view for view in views if view.id == layer_choice.chosen({view.id for view in views})), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        kind = segments("Draw as", _DRAWN, key="profile.modules.kind")
        by = segments("Area", offered, key="profile.modules.by") if offered else "latency"
        inside = st.toggle(
            "Only the module of the chosen layer",
            key="profile.modules.inside",
            disabled=chosen is None or not chosen.module,
        )
        near = _looked_at(views)
    path = "/".join(chosen.module) if chosen is not None and inside else near
    known = measure(by)
    figure = _figure(views, kind, known.key, layer_choice.theme(), title=name, inside=path)
    area = area_of(chosen, figure.data[0].ids) if chosen is not None and known.of(chosen) else None
    alt = f"{known.label} by module, as {'areas inside areas' if kind == 'treemap' else 'rows from left to right'}"
    layer_choice.chart(figure, key=f"profile.{kind}", alt=alt, area=area, on_pick=pick_area)
    told = _told(chosen, known, area, kind)
    if any(area_id.startswith((CLOSED, REST)) for area_id in figure.data[0].ids):
        told += " There is no room for every layer: small modules are closed, and a click shows what is in them."
    st.caption(plain(told))


def pick_area(clicked: str) -> None:
    """A click on a layer chooses it; one on a module opens it, in the browser where all that it has is there."""
    layer, module = layer_of_area(clicked), module_of_area(clicked)
    if layer is not None:
        state.LAYER.set(layer)
    elif module is not None:
        st.session_state[_NEAR] = "/".join(module)


def _looked_at(views: Sequence[LayerView]) -> str:
    """The closed module that was clicked, with the way back; empty for the whole."""
    near = str(st.session_state.get(_NEAR, ""))
    if not near or near not in _modules(views):
        return ""
    if st.button("Whole model", icon=":material/zoom_out:", type="tertiary", key="profile.modules.whole"):
        st.session_state[_NEAR] = ""
        return ""
    return near


@kept
def _modules(views: Sequence[LayerView]) -> frozenset[str]:
    return frozenset("/".join(view.module[:depth]) for view in views for depth in range(1, len(view.module) + 1))


def _told(chosen: LayerView | None, known: Measure, area: str | None, kind: str) -> str:
    how = "Area and colour" if kind == "treemap" else "Height and colour"
    order = "" if kind == "treemap" else " Modules and layers stand in the order of the graph."
    told = (
        f"{how}: {known.label[0].lower()}{known.label[1:]}. A click on a module opens it, on a layer chooses it.{order}"
    )
    if chosen is not None and area is None:
        return f"{told} The chosen layer {chosen.id} has no area: its figure is zero or not known."
    return told


@kept
def _has_any(views: Sequence[LayerView], key: str) -> bool:
    known = measure(key)
    return any(known.of(view) for view in views)


@kept
def _figure(
    views: Sequence[LayerView], kind: str, by: str, theme: FigureTheme, *, title: str, inside: str
) -> go.Figure:
    drawn = treemap if kind == "treemap" else icicle
    return drawn(views, measure(by), theme, title=title, inside=tuple(filter(None, inside.split("/"))))
