"""Machine: what it executes in which precision and how fast it can be, measured; what follows; conditions and room."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.widgets import machine, machine_grid, machine_speed

here = services.conditions()
known = services.jobs(kind="machine", limit=1)
last = known[0] if known else None
busy = last if last is not None and not last.is_final else None

machine.heading(here, services.probed_at(), busy)
machine.progress(busy, last)


@st.fragment(run_every=None if busy is None else 2.0)
def measured() -> None:
    """What is known so far: while the probe runs, each precision appears as soon as it was tried."""
    document = services.machine_so_far()
    machine_speed.speeds(document["roofline"], here)
    machine_grid.grid(document)


measured()
machine.follows(here, services.machine_so_far())
left, middle, right = st.columns(3, gap="medium")
with left:
    machine.measured_under(here)
with middle:
    machine.versions(here.python)
with right:
    machine.room()
