"""Compare: before and after of a candidate, what was asked and what runs, and the files to take away."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.widgets import comparison, comparison_details, empty, jobs, link_notes

on = services.subject()
if on is None:
    empty.ask_for_model()
    st.stop()
inspection = services.inspection(on)
current = services.current_candidate(on)
running = services.job_of(on, "build") or services.job_of(on, "optimize")
if running is not None:
    jobs.card(running.id, key="compare.job")
link_notes.candidate(services.candidates(on), current, settled=running is None)
if current is None or inspection is None:
    comparison.nothing_built()
    st.stop()

link_notes.layer({row["id"] for row in inspection["layers"]})
document = services.build(current.id) or {}
before = comparison.before_views(document, inspection, services.profile(on))
after = comparison.after_views(document, inspection)
comparison.picker(on, services.candidates(on), current)
comparison.summary(document)
comparison.tiles(document)
comparison.explain(document, before, after)
comparison.maps(document, inspection, before, after)
comparison_details.draw(document, before)
