"""The Profile page's details below the map, one tab each: layer table, treemap, time bar, advice, downloads."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from core.report import quantities
from dashboard.figures.time_bar import BUCKETS, time_bar
from dashboard.figures.treemap import treemap
from dashboard.file_names import slug
from dashboard.layer_tables import layer_table
from dashboard.layer_views import LayerView, measure
from dashboard.services import Document
from dashboard.widgets import bundle, layer_choice
from dashboard.widgets.text import plain

_TABLE_PX = 420


def details(views: Sequence[LayerView], document: Document, name: str) -> None:
    """Table, treemap, time bar and advice; only the open tab is drawn."""
    advice = document.get("advice") or []
    labels = ["Layers", "Modules", "Time bar", f"Advice {len(advice)}"]
    layers, modules, times, told = st.tabs(labels, key="profile.tabs", on_change="rerun")
    theme = layer_choice.theme()
    if layers.open:
        with layers:
            _layers(views, document, name)
    if modules.open:
        with modules:
            selected = layer_choice.chosen({view.id for view in views})
            figure = treemap(views, measure("latency"), theme, title=name, selected=selected)
            layer_choice.chart(figure, key="profile.treemap", alt="Latency by module, as areas inside areas")
            st.caption("Area and colour: latency. Layers that take no time of their own have no area.")
    if times.open:
        with times:
            layer_choice.still_chart(time_bar(document, theme), key="profile.bar", alt="One profiled run as one bar")
            st.caption(outside_layers(document))
    if told.open:
        with told:
            _advice(advice)


def _layers(views: Sequence[LayerView], document: Document, name: str) -> None:
    shown = layer_table(views, layer_choice.theme())
    layer_choice.table(shown, key="profile.layers", height=_TABLE_PX, alt="Layers, the slowest first")
    with st.container(horizontal=True, gap="small"):
        bundle.download_layers(document, key="profile.csv", stem=slug(name, "layers"))
        st.download_button(
            "Profile as JSON",
            lambda: json.dumps(document, indent=1),
            file_name=f"{slug(name, 'profile')}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
        )


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


def _advice(advice: Sequence[Document]) -> None:
    if not advice:
        st.caption("Nothing stands out: no rule found a part of the time that is likely wasted.")
    else:
        st.caption("Shares of the advice are of the kernel time, like those of the layers.")
    for entry in advice:
        with st.container(border=True, gap="small"):
            st.markdown(f"**{plain(str(entry.get('evidence') or entry.get('rule')))}**")
            st.markdown(plain(str(entry.get("consequence") or "")))
            st.caption(plain(f"What to do: {entry.get('remedy')}" if entry.get("remedy") else ""))
