"""The roofline on the Profile page: how much of what this machine can reach each layer reaches, in figure and words."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from core.report import quantities
from dashboard.figures.roofline import MOST_POINTS, By, placed, ridge, roofline_chart, slopes
from dashboard.figures.theme import FigureTheme
from dashboard.kept import kept
from dashboard.layer_views import LayerView, write_intensity
from dashboard.services import Document
from dashboard.widgets import layer_choice
from dashboard.widgets.segments import segments
from dashboard.widgets.text import plain

_BY: dict[By, str] = {"limit": "What limits it", "precision": "Precision"}
_UNKNOWN = (
    "The roofs of this machine are not known to this profile. Probe the machine on the page Machine, which takes "
    "seconds, and profile again: then each layer tells how much of what can be reached it reaches."
)
_HOW = (
    "How to read it: a layer below the slanted roof waits for bytes, one below the flat roof for arithmetic. The "
    "nearer to its roof, the less there is to gain by a better kernel. Layers above the roof of memory get their bytes "
    "from a cache. The larger a point, the longer its layer takes."
)


def draw(views: Sequence[LayerView], document: Document) -> None:
    """The chart, what it says of this machine, and which layers have no place in it."""
    roofline = document.get("roofline")
    if roofline is None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.info(_UNKNOWN, icon=":material/straighten:")
            if st.button("Open Machine", key="profile.roofline.machine", icon=":material/memory:"):
                st.switch_page("app_pages/machine.py")
    if not _placed(views):
        st.caption("No layer has its multiply-accumulates, bytes and time all known.")
        return
    by = segments("Colour by", _BY, key="profile.roofline.by")
    selected = layer_choice.chosen({view.id for view in views})
    layer_choice.chart(
        _chart(views, document, by, selected, layer_choice.theme()),
        key="profile.roofline",
        alt="Layers by operations per byte and operations per second, below the roofs of this machine",
    )
    for sentence in (told_machine(document), told_layers(views), _HOW):
        if sentence:
            st.caption(plain(sentence))


def told_machine(document: Document) -> str:
    """Where arithmetic takes over from memory on this machine, in words; empty where it was not probed."""
    roofline = document.get("roofline")
    if not roofline:
        return ""
    memory = next(iter(slopes(roofline)), None)
    peaks = {name: float(value) for name, value in (roofline.get("gflops") or {}).items() if value}
    if memory is None or not peaks:
        return ""
    threads = int(roofline.get("threads") or 1)
    told = [
        f"{name} at most {quantities.with_unit(peak, 'GFLOP/s')}, memory rules below "
        f"{write_intensity(ridge(peak, memory))}"
        for name, peak in peaks.items()
    ]
    return (
        f"This machine with {quantities.counted(threads, 'thread')}: memory brings "
        f"{quantities.with_unit(memory.gbytes_per_s, 'GB/s')}; {'; '.join(told)}."
    )


def told_layers(views: Sequence[LayerView]) -> str:
    """How many layers are shown and what the others take."""
    shown = _placed(views)
    others = [view for view in views if view.ms and view not in shown]
    time = quantities.time_ms(sum(view.ms or 0.0 for view in others))
    told = f"{quantities.counted(len(shown), 'layer')} with arithmetic"
    if len(shown) > MOST_POINTS:
        told = f"The {MOST_POINTS} slowest of {told}"
    if not others:
        return f"{told}."
    return f"{told}; {len(others)} more, {time} in all, have none that counts here (or bytes that are not known)."


@kept
def _placed(views: Sequence[LayerView]) -> list[LayerView]:
    return placed(views)


@kept
def _chart(
    views: Sequence[LayerView], document: Document, by: By, selected: str | None, theme: FigureTheme
) -> go.Figure:
    return roofline_chart(views, document.get("roofline"), theme, by=by, selected=selected)
