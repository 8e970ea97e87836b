"""Saved mixes that were never built, of every model, with the way to the desk."""

from __future__ import annotations

import streamlit as st

from core.store.rows import MixRow, ModelRow
from dashboard import conditions, services, state
from dashboard.widgets import saved_mixes
from dashboard.widgets.text import plain


def draw() -> None:
    """One line per mix, last changed first."""
    found = services.unbuilt_mixes(saved_mixes.was_built)
    if not found:
        st.markdown("### No mix waits to be built")
        st.caption(
            "Mixes that are saved on the Mix page, and drafts that lie on its desk, are listed here until built."
        )
        return
    st.caption(f"{len(found)} saved {'mix was' if len(found) == 1 else 'mixes were'} never built.")
    with st.container(border=True, gap="xsmall"):
        for model, mix in found:
            _line(model, mix)


def _line(model: ModelRow, mix: MixRow) -> None:
    is_draft = mix.name == services.DRAFT
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"{'The draft on the desk' if is_draft else plain(mix.name)} · {plain(model.name)}", width="stretch"
        )
        changed = conditions.moment(mix.updated_at.isoformat(timespec="seconds"))
        st.caption(f"{saved_mixes.rules(mix.recipe)} · {plain(changed)}", width="content")
        key = f"runs.mix.{model.sha256[:12]}.{mix.name}"
        if st.button("Open in Mix", key=key, icon=":material/tune:", type="tertiary"):
            _open(model, mix, is_draft=is_draft)


def _open(model: ModelRow, mix: MixRow, *, is_draft: bool) -> None:
    """Puts model and mix on the desk."""
    on_desk = state.MODEL.get()
    if on_desk is None or not model.sha256.startswith(on_desk):
        state.choose_model(model.sha256)
    data = services.datasets(model)
    on = services.Subject(model=model, data=data[0] if data else None)
    saved_mixes.open_in_mix(on, mix.recipe, is_draft=is_draft)
