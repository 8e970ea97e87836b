"""Runs: every job and candidate with what came of it; what they take on disk; saved mixes that were never built."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.widgets import runs, runs_disk, runs_mixes

#: As the link names it -> as the tab is called; the first is open where the link names none.
PARTS = {"runs": "Runs", "disk": "Disk use", "mixes": "Saved mixes"}
KEY = "runs.tabs"


def keep_part() -> None:
    """Puts the tab that was opened into the link."""
    part = next(part for part, label in PARTS.items() if label == st.session_state[KEY])
    state.RUNS_PART.set(None if part == "runs" else part)


st.session_state[KEY] = PARTS.get(state.RUNS_PART.get() or "", PARTS["runs"])
RUNS, DISK, MIXES = st.tabs(list(PARTS.values()), key=KEY, on_change=keep_part)
if RUNS.open:
    with RUNS:
        runs.draw()
if DISK.open:
    with DISK:
        runs_disk.draw()
if MIXES.open:
    with MIXES:
        runs_mixes.draw()
