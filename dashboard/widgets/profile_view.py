"""The Profile page's parts: heading, tiles, map with card, layer table, treemap, time bar, advice, downloads."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from core.report import quantities
from dashboard import conditions, services
from dashboard.figures.heat_map import heat_map
from dashboard.figures.time_bar import BUCKETS, time_bar
from dashboard.figures.treemap import treemap
from dashboard.file_names import slug
from dashboard.layer_views import MEASURES, LayerView, Measure, measure
from dashboard.services import Document, Subject
from dashboard.tables import layer_table
from dashboard.widgets import bundle, jobs, layer_card, layer_choice
from dashboard.widgets.text import plain

_TABLE_PX = 420
_NEEDS_PROFILE = ("latency", "share", "bytes")


def heading(on: Subject, document: Document | None) -> None:
    """What was measured and under which conditions, and the button that measures."""
    left, right = st.columns([3, 1], gap="small")
    with left:
        st.markdown("### Where the time goes")
        if document is None:
            st.caption("Not measured yet. Profile runs the model on its data and times every layer.")
        else:
            st.caption(plain(conditions.sentence(document.get("conditions"))))
    with right, st.container(horizontal_alignment="right"):
        label = "Profile" if document is None else "Profile again"
        jobs.run(on, "profile", label=label, submit=lambda: services.submit_profile(on))
    jobs.show_last(on, "profile")
    if document is not None:
        _reservations(document)


def _reservations(document: Document) -> None:
    if (document.get("data") or {}).get("synthetic"):
        st.warning(
            "Synthetic inputs: times hold for these shapes and values only. Add real data on the Model page.",
            icon=":material/science:",
        )
    doubts = conditions.doubts(document, services.conditions())
    if doubts:
        st.warning(f"This profile may not hold here: {plain('; '.join(doubts))}.", icon=":material/history:")


def tiles(document: Document) -> None:
    """Latency without the profiler, and how the profiler's times add up to it."""
    wall = document.get("wall_ms") or {}
    unattributed = (document.get("buckets") or {}).get("unattributed")
    instrumented = document.get("instrumented_ms")
    gap = document.get("gap_ms")
    gap_share = gap / instrumented if gap is not None and instrumented else None
    shown = [
        (
            "Latency, mean",
            quantities.time_ms(wall.get("mean")),
            f"95 %: {quantities.time_range(wall.get('ci95'))}",
            _WALL,
        ),
        ("Slowest 5 %", quantities.time_ms(wall.get("p95")), f"median {quantities.time_ms(wall.get('median'))}", _P95),
        ("In kernels", quantities.time_ms(document.get("kernel_ms")), "with the profiler", kernel_help(document)),
        ("Between kernels", quantities.time_ms(gap), f"{quantities.share(gap_share)} of the run", _GAP),
        (
            "Profiler overhead",
            quantities.ratio(document.get("overhead")),
            f"run takes {quantities.time_ms(instrumented)}",
            _OVERHEAD,
        ),
        (
            "Attributed",
            quantities.share(document.get("attributed_share")),
            "nothing is left over" if unattributed == 0 else f"{quantities.time_ms(unattributed)} is not",
            _ATTRIBUTED,
        ),
    ]
    for column, (label, value, below, help_text) in zip(st.columns(len(shown)), shown, strict=True):
        column.metric(
            label, value, below, delta_color="off", delta_arrow="off", help=help_text, border=True, height="stretch"
        )


_WALL = "Mean wall time of one run without the profiler, with its 95 % interval."
_P95 = "95 of 100 runs are faster than this."
_KERNEL = "Sum over all kernels of one run, as the profiler times them."
_KERNEL_ABOVE = (
    " It exceeds the mean latency because timing every kernel takes time of its own: the latency is measured in other "
    "runs, without the profiler. Compare layers with each other by these times, and whole runs by the latency."
)
_GAP = (
    "Time of the instrumented run that no kernel accounts for: dispatch, allocation, and the profiler itself. "
    "The share is of that run, which the profiler makes longer."
)
_OVERHEAD = "Mean time of a run with the profiler over one without it."
_ATTRIBUTED = "Share of the kernel time that could be given to a layer or a named bucket."


def kernel_help(document: Document) -> str:
    """What "In kernels" is, and how it can be more than the latency where it is."""
    kernel_ms, mean = document.get("kernel_ms"), (document.get("wall_ms") or {}).get("mean")
    above = kernel_ms is not None and mean is not None and kernel_ms > mean
    return _KERNEL + (_KERNEL_ABOVE if above else "")


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
    offered = [known for known in MEASURES if measured or known.key not in _NEEDS_PROFILE]
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
