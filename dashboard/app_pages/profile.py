"""Profile: where the time goes, layer by layer, with one selection through map, table and treemap."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.layer_views import layer_views
from dashboard.widgets import empty, jobs, link_notes, profile_details, profile_map, profile_view

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

document = services.profile(on)
views = layer_views(inspection, document)
link_notes.layer({view.id for view in views})
profile_view.heading(on, document)
if document is not None:
    profile_view.tiles(document)
profile_map.map_and_card(views, inspection, measured=document is not None)
if document is not None:
    profile_details.details(views, document, on.model.name)
