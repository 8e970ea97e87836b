"""The Profile page's heading and tiles: what was measured, under which conditions, and how the times add up."""

from __future__ import annotations

import streamlit as st

from core.report import quantities
from dashboard import conditions, services
from dashboard.services import Document, Subject
from dashboard.widgets import jobs
from dashboard.widgets.text import plain


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
