"""The jobs chip: how many run, how far the first is; a click opens what runs, what waits and what ended lately."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.store.rows import JobRow, JobState
from dashboard import services, state
from dashboard.widgets.jobs import clock, progress_line
from dashboard.widgets.text import plain

_REFRESH_S = 1.0
_SHOWN = 6
_ICONS = {
    JobState.QUEUED: ":material/hourglass_empty:",
    JobState.RUNNING: ":material/progress_activity:",
    JobState.DONE: ":material/check_circle:",
    JobState.FAILED: ":material/error:",
    JobState.STOPPED: ":material/stop_circle:",
    JobState.CRASHED: ":material/error:",
    JobState.INTERRUPTED: ":material/power_off:",
}


def draw() -> None:
    """Draws the chip; it refreshes itself while anything runs or waits, then runs the page once more and is still."""
    lively = bool(services.jobs(states=services.ACTIVE, limit=1))

    @st.fragment(run_every=_REFRESH_S if lively else None)
    def chip() -> None:
        active = services.jobs(states=services.ACTIVE)
        if lively and not active:
            st.rerun()
        _chip(active)

    chip()


def chip_line(active: Sequence[JobRow]) -> str:
    """The chip's text: "1 running, 43 %, 0:12 left"; "No jobs" where nothing runs or waits."""
    running = [row for row in active if row.state is JobState.RUNNING]
    waiting = len(active) - len(running)
    words = []
    if running:
        words.append(f"{len(running)} running")
        first = running[0]
        if first.fraction is not None:
            words.append(f"{first.fraction * 100:.0f} %")
        if first.eta_s is not None:
            words.append(f"{clock(first.eta_s)} left")
    if waiting:
        words.append(f"{waiting} waiting")
    return ", ".join(words) or "No jobs running"


def _chip(active: Sequence[JobRow]) -> None:
    icon = ":material/progress_activity:" if active else ":material/task_alt:"
    with st.popover(chip_line(active), icon=icon, type="tertiary", key="strip.jobs"):
        recent = services.jobs(limit=_SHOWN)
        if not recent:
            st.caption("Jobs appear here: reading a model, profiling, building, searching.")
        for row in [*active, *(row for row in recent if row.is_final)][: _SHOWN + len(active)]:
            _line(row)
        if st.button("Open Runs", key="chip.runs", icon=":material/history:", type="tertiary"):
            st.switch_page("app_pages/runs.py", query_params=state.link())


def _line(row: JobRow) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"{_ICONS[row.state]} {plain(row.title or row.kind)}", width="stretch")
        if row.is_final:
            st.caption(str(row.state), width="content")
            return
        st.caption(plain(progress_line(row)), width="content")
        st.button(
            "Stop",
            key=f"chip.stop.{row.id}",
            type="tertiary",
            icon=":material/stop:",
            disabled=row.stop_requested,
            on_click=services.stop,
            args=(row.id,),
        )
