"""Memory on the Profile page: what is alive while each layer runs, what holds the peak, and peaks that were seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.report import quantities
from dashboard.figures.memory_curve import boxes_of, memory_curve
from dashboard.figures.theme import FigureTheme
from dashboard.kept import kept
from dashboard.layer_tables import holders_table
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.tables import Table
from dashboard.widgets import layer_choice
from dashboard.widgets.chart_touch import Box
from dashboard.widgets.text import plain

_TABLE_PX = 300
_TILES = (
    ("activation_peak_bytes", "Activations at the peak", "The most that must be alive at once, from the graph."),
    ("activation_total_bytes", "Without reuse", "All activations of a run, if none took the place of another."),
    (
        "planned_bytes",
        "Planned, with reuse",
        "What a planner needs that puts activations into places that are free again.",
    ),
    ("arena_peak_bytes", "Runtime's arena", "The most that the runtime's own allocator held while the model ran."),
    (
        "process_peak_bytes",
        "Whole process",
        "Peak of a process that opens and runs the model: weights, libraries and all.",
    ),
)
_OLDER = "This profile does not know what is alive at each step. Profile again to see the curve."


def draw(views: Sequence[LayerView], document: Document) -> None:
    """Tiles, curve, holders."""
    memory = document.get("memory") or {}
    _tiles(memory)
    if not memory.get("steps"):
        st.caption(_OLDER)
        return
    chosen = layer_choice.chosen({view.id for view in views})
    boxes = [] if chosen is None else boxes_of(memory, chosen)
    layer_choice.chart(
        _chart(memory, layer_choice.theme()),
        key="profile.memory",
        alt=f"Bytes of activations alive at each of {len(memory['steps'])} steps",
        cells=[Box(*box) for box in boxes],
    )
    st.caption(plain(told_choice(memory, chosen)))
    if memory.get("holders"):
        st.markdown("**What holds the peak**")
        table = _holders(memory, layer_choice.theme())
        layer_choice.table(
            table, key="profile.holders", height=_TABLE_PX, alt="Tensors alive at the peak, largest first"
        )


def _tiles(memory: Mapping[str, Any]) -> None:
    shown = [tile for tile in _TILES if tile[0] in memory or tile[0] == "activation_peak_bytes"]
    for column, (key, label, help_text) in zip(st.columns(len(shown)), shown, strict=True):
        column.metric(label, quantities.size(memory.get(key)), help=help_text, border=True, height="stretch")


def told_choice(memory: Mapping[str, Any], chosen: str | None) -> str:
    """What the chosen layer has to do with the peak."""
    step = next((step for step in memory.get("steps") or () if step["layer"] == chosen), None)
    if chosen is None:
        return (
            "A click on a step chooses its layer. Framed then: its step, and how long what it holds at the peak lives."
        )
    if step is None:
        return f"The chosen layer {chosen} has no step of its own: it does not run."
    told = f"{quantities.size(step['bytes'])} are alive while {chosen} runs"
    peak = memory.get("activation_peak_bytes")
    if peak:
        told += f", {quantities.share(step['bytes'] / peak)} of the peak"
    held = [holder for holder in memory.get("holders") or () if holder.get("layer") == chosen]
    if not held:
        return f"{told}; it holds nothing at the peak."
    size = sum(float(holder["bytes"]) for holder in held)
    return f"{told}; at the peak it holds {quantities.size(size)}, until {held[0].get('to')} has run."


@kept
def _chart(memory: Mapping[str, Any], theme: FigureTheme) -> go.Figure:
    return memory_curve(memory, theme)


@kept
def _holders(memory: Mapping[str, Any], theme: FigureTheme) -> Table:
    return holders_table(memory, theme)
