"""Runs: every job and candidate with what came of it; what they take on disk; saved mixes that were never built."""

from __future__ import annotations

import streamlit as st

from dashboard.widgets import runs, runs_disk, runs_mixes

RUNS, DISK, MIXES = st.tabs(["Runs", "Disk use", "Saved mixes"], key="runs.tabs", on_change="rerun")
if RUNS.open:
    with RUNS:
        runs.draw()
if DISK.open:
    with DISK:
        runs_disk.draw()
if MIXES.open:
    with MIXES:
        runs_mixes.draw()
