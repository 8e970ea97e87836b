"""The timeline on the Profile page: one profiled run as a bar of its parts, and kernel by kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.report import quantities
from dashboard.figures.kernels import Window, around, whole_ms
from dashboard.figures.theme import FigureTheme
from dashboard.figures.time_bar import BUCKETS, time_bar
from dashboard.figures.timeline import MOST_BOXES, boxes_of, timeline_chart
from dashboard.kept import kept
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.widgets import layer_choice
from dashboard.widgets.chart_touch import Box
from dashboard.widgets.text import plain

_STEPS = 1000
_OLDER = "This profile has no timeline: it is older than timelines are. Profile again to see one run kernel by kernel."


def draw(views: Sequence[LayerView], document: Document) -> None:
    """The bar of the whole, then the window of one run."""
    theme = layer_choice.theme()
    layer_choice.still_chart(_bar(document, theme), key="profile.bar", alt="The parts of a profiled run as one bar")
    st.caption(plain(outside_layers(document)))
    timeline = document.get("timeline")
    if not timeline or not timeline.get("kernels"):
        st.caption(_OLDER)
        return
    st.markdown(plain(told_run(document)))
    chosen = layer_choice.chosen({view.id for view in views})
    low, high = _window(timeline, chosen)
    boxes = [] if chosen is None else boxes_of(timeline, chosen, window=(low, high))
    layer_choice.chart(
        _chart(timeline, theme, low, high),
        key="profile.timeline",
        alt=f"Kernels of one run from {quantities.time_ms(low)} to {quantities.time_ms(high)}",
        cells=[Box(*box) for box in boxes],
    )
    st.caption(plain(_told_choice(timeline, chosen, len(boxes))))


def told_run(document: Document) -> str:
    """Which run is shown, and that it is longer than one without the profiler."""
    timeline = document["timeline"]
    kernels = len(timeline["kernels"]) + int(timeline.get("omitted") or 0)
    length = quantities.time_ms(timeline.get("ms"))
    told = [f"One real run with the profiler on: {length}, {quantities.counted(kernels, 'kernel')}."]
    mean = (document.get("wall_ms") or {}).get("mean")
    if mean is not None:
        told.append(f"Without the profiler a run takes {quantities.time_ms(mean)} on average.")
    inside = (document.get("profiler") or {}).get("inside_ms")
    if inside:
        told.append(
            f"Kernels are shown as the profiler timed them; of the times of layers, {quantities.time_ms(inside)} "
            "that it takes inside them is taken out."
        )
    if timeline.get("omitted"):
        told.append(f"The last {quantities.counted(timeline['omitted'], 'kernel')} of the run were not kept.")
    return " ".join(told)


def _window(timeline: Mapping[str, Any], chosen: str | None) -> Window:
    """What part of the run is shown."""
    whole = whole_ms(timeline)
    if whole <= 0:
        return 0.0, 0.0
    key = f"profile.window.{whole:.6f}"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        low, high = st.slider(
            "Window (ms)", 0.0, whole, (0.0, whole), step=whole / _STEPS, format="%.3g", key=key, width="stretch"
        )
        view = None if chosen is None else around(timeline, chosen)
        st.button(
            "Around the chosen layer",
            key="profile.window.around",
            icon=":material/center_focus_strong:",
            disabled=view is None,
            on_click=_show,
            args=(key, view),
        )
        st.button(
            "Whole run",
            key="profile.window.whole",
            icon=":material/zoom_out_map:",
            disabled=(low, high) == (0.0, whole),
            on_click=_show,
            args=(key, (0.0, whole)),
        )
    return (low, high) if high > low else (low, min(whole, low + whole / _STEPS))


def _show(key: str, window: Window) -> None:
    st.session_state[key] = window


def _told_choice(timeline: Mapping[str, Any], chosen: str | None, seen: int) -> str:
    how = "Drag to zoom, double-click to zoom out; the window above shows more of short kernels."
    if chosen is None:
        return f"A click on a kernel chooses its layer. {how}"
    if around(timeline, chosen) is None:
        return f"The chosen layer {chosen} ran no kernel: it was folded away, or its branch was not taken. {how}"
    if not seen:
        return f"The chosen layer {chosen} ran outside this window. {how}"
    more = f" The {MOST_BOXES} longest of its kernels are framed." if seen == MOST_BOXES else ""
    return f"Framed: {chosen}.{more} {how}"


def outside_layers(document: Document) -> str:
    """What the kernels spend beside the layers, each with its share of the kernel time, as the advice counts it."""
    buckets = document.get("buckets") or {}
    kernel_ms = document.get("kernel_ms")
    told = [
        f"{name} {quantities.time_ms(ms)}{f' ({quantities.share(ms / kernel_ms)})' if ms and kernel_ms else ''}"
        for name, ms in ((name, buckets.get(bucket)) for bucket, name in BUCKETS.items())
    ]
    basis = f", with its share of the kernel time of {quantities.time_ms(kernel_ms)}" if kernel_ms else ""
    return f"Kernel time that belongs to no layer{basis}: {', '.join(told)}."


@kept
def _bar(document: Document, theme: FigureTheme) -> go.Figure:
    return time_bar(document, theme)


@kept
def _chart(timeline: Mapping[str, Any], theme: FigureTheme, low: float, high: float) -> go.Figure:
    return timeline_chart(timeline, theme, window=(low, high))
