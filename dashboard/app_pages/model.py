"""Model: choose one, see what it is and whether anything is wrong with it, look at its graph, give it data."""

from __future__ import annotations

import streamlit as st

from dashboard import services
from dashboard.widgets import empty, jobs, model_view, opening, prepare, recipe_drop, saved_mixes, upload

if opening.draw():
    st.stop()
on = services.subject()
if on is None:
    empty.choose_model()
    st.stop()

model_view.heading(on)
unfinished = services.ensure_inspected(on)
if unfinished is not None:
    jobs.card(unfinished.id, key="inspect")
    if not unfinished.is_final:
        model_view.skeleton()
    else:
        if on.data is not None:
            upload.other_data()
        empty.offers()
    st.stop()

document = services.inspection(on)
if document is not None:
    if prepare.draw(on, document):
        st.stop()
    model_view.figures(document)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        model_view.graph(on)
    with right:
        model_view.validation(document)
        model_view.tensors(on, document)
        model_view.data(on, document)
        model_view.operators(document)
        saved_mixes.draw(on)
        recipe_drop.draw(on, document)
