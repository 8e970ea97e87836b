"""The table of layers on the Profile page, with its filter, the sums of what is shown, and what can be taken away."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.figures.theme import FigureTheme
from dashboard.kept import kept
from dashboard.layer_filter import LayerFilter, added_up, choices, matching, place_told
from dashboard.layer_tables import layer_table
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.tables import Table
from dashboard.widgets import layer_choice, profile_exports
from dashboard.widgets.text import plain

_TABLE_PX = 440
_WORDS, _OPS, _LIMITS, _PRECISIONS = (f"profile.filter.{name}" for name in ("words", "ops", "limits", "precisions"))


def draw(views: Sequence[LayerView], document: Document, inspection: Document, name: str) -> None:
    """Filter, sums, table, downloads."""
    asked = _filter(views)
    shown = _filtered(views, asked.words, frozenset(asked.ops), frozenset(asked.limits), frozenset(asked.precisions))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(plain(added_up(shown, len(views))), width="content")
        if asked.asks:
            st.button("Clear filter", key="profile.filter.clear", type="tertiary", on_click=_clear)
        st.caption(plain(place_told(shown, layer_choice.chosen({view.id for view in views}))), width="content")
    if not shown:
        st.caption("No layer is like that.")
    else:
        table = _table(views, shown, layer_choice.theme())
        layer_choice.table(table, key="profile.layers", height=_TABLE_PX, alt="Layers, the slowest first")
    profile_exports.exports(document, inspection, name)


def _filter(views: Sequence[LayerView]) -> LayerFilter:
    """The fields; a sort of kinds that has only one is not asked for."""
    ops = _choices(views, "op")
    limits, precisions = _choices(views, "limited_by"), _choices(views, "precision")
    words, op, limit, precision = st.columns([3, 2, 2, 2], gap="small")
    text = words.text_input(
        "Search",
        key=_WORDS,
        placeholder="Search name, operator, module",
        label_visibility="collapsed",
        icon=":material/search:",
    )
    with op:
        asked_ops = _choose("Operator", ops, _OPS)
    with limit:
        asked_limits = _choose("Limited by", limits, _LIMITS)
    with precision:
        asked_precisions = _choose("Precision", precisions, _PRECISIONS)
    return LayerFilter(text or "", asked_ops, asked_limits, asked_precisions)


def _choose(label: str, options: Sequence[str], key: str) -> tuple[str, ...]:
    if len(options) < 2:
        return ()
    chosen = st.multiselect(label, list(options), key=key, placeholder=label, label_visibility="collapsed")
    return tuple(chosen)


def _clear() -> None:
    st.session_state[_WORDS] = ""
    for key in (_OPS, _LIMITS, _PRECISIONS):
        st.session_state[key] = []


@kept
def _choices(views: Sequence[LayerView], figure: str) -> list[str]:
    return choices(views, lambda view: getattr(view, figure))


@kept
def _filtered(
    views: Sequence[LayerView],
    words: str,
    ops: frozenset[str],
    limits: frozenset[str],
    precisions: frozenset[str],
) -> tuple[LayerView, ...]:
    return matching(views, LayerFilter(words, tuple(ops), tuple(limits), tuple(precisions)))


@kept
def _table(views: Sequence[LayerView], shown: Sequence[LayerView], theme: FigureTheme) -> Table:
    top = max((view.share or 0.0 for view in views), default=0.0)
    return layer_table(shown, theme, top_share=top)
