"""Opening: the card of the job that looks at dropped files, and what a model still waits for."""

from __future__ import annotations

import streamlit as st

from core.store.rows import JobState
from dashboard import arriving, opening, services, state
from dashboard.widgets import jobs, model_view, upload
from dashboard.widgets.text import plain


def draw() -> bool:
    """What is being opened. True while a job is at it: the page then has nothing else to show."""
    row = services.find_job(state.OPENING.get())
    if row is None:
        state.OPENING.set(None)
        return False
    if not row.is_final:
        jobs.card(row.id, key="opening")
        model_view.skeleton()
        return True
    waits = opening.waits_for(row)
    if waits is not None:
        _ask_for(waits, on_server="folder" in row.params)
    elif row.state is JobState.DONE:
        arriving.opened(row)
        st.rerun()
    else:
        jobs.ended(row, key="opening")
        st.button("Close", key="opening.close", icon=":material/close:", on_click=_close)
    return False


def _ask_for(waits: opening.Waiting, *, on_server: bool) -> None:
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(waits.name)}** keeps weights in files of their own")
        st.error(plain(opening.told_missing(waits.missing, on_server=on_server)), icon=":material/attach_file_add:")
        if not on_server:
            upload.drop_files("The missing files", kinds=None, key="opening.rest")
        st.button("Leave it", key="opening.close", icon=":material/close:", on_click=_close)


def _close() -> None:
    state.OPENING.set(None)
