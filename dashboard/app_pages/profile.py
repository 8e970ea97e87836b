"""Profile: where the time goes, layer by layer, with one selection through map, table and treemap."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.widgets import empty, jobs, profile_explorer, profile_partial, profile_view

on = services.subject()
if on is None:
    empty.ask_for_model()
    st.stop()
unfinished = services.ensure_inspected(on)
if unfinished is not None:
    jobs.card(unfinished.id, key="inspect")
    st.stop()
inspection = services.inspection(on)
if inspection is None:
    st.stop()

finished = services.profile(on)
profile_view.heading(on, finished)
document = profile_partial.document_to_show(on, finished)
if document is not None:
    profile_view.tiles(document)
profile_explorer.draw(on, inspection, document)
