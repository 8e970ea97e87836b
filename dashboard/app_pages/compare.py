"""Compare: all candidates against a baseline, before and after of one, what was asked and what runs, files to keep."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.widgets import candidates, comparison, comparison_details, empty, jobs, link_notes

on = services.subject()
if on is None:
    empty.ask_for_model()
    st.stop()
inspection = services.inspection(on)
current = services.current_candidate(on)
running = services.job_of(on, "build") or services.job_of(on, "optimize")
if running is not None:
    jobs.card(running.id, key="compare.job")
known = services.candidates(on)
link_notes.candidate(known, current, settled=running is None)
link_notes.baseline(known)
if current is None:
    comparison.nothing_built()
    st.stop()
if inspection is None:
    unfinished = services.ensure_inspected(on)
    if unfinished is not None:
        jobs.card(unfinished.id, key="inspect")
    st.stop()

link_notes.layer({row["id"] for row in inspection["layers"]})
document = services.build(current.id) or {}
baseline = services.baseline(on, known)
profile = services.profile(on)
before = comparison.before_views(document, inspection, profile)
after = comparison.after_views(document, inspection)
candidates.picker(on, known, current, baseline)
candidates.overview(on, known, current, baseline, before)
candidates.against_baseline(on, current, baseline)
job = services.find_job(current.job_id)
comparison.summary(document, began=None if job is None else job.started_at)
comparison.tiles(document)
comparison.explain(document, profile)
comparison.maps(document, inspection, before, after)
comparison_details.draw(document, before)
