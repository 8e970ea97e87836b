"""Machine: what it executes in which precision, measured; what follows from that; conditions, versions and room."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.widgets import machine

here = services.conditions()
document = services.machine()
known = services.jobs(kind="machine", limit=1)
last = known[0] if known else None
busy = last if last is not None and not last.is_final else None

machine.heading(here, services.probed_at(), busy)
machine.progress(busy, last)
left, right = st.columns([2, 1], gap="medium")
with left:
    machine.grid(document)
    machine.follows(here, document)
with right:
    machine.measured_under(here)
    machine.versions(here.python)
    machine.room()
