"""A recipe from elsewhere on the Model page: dropped, fitted to this model, its differences listed, opened or kept."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.errors import MixdeskError
from dashboard import elsewhere, loading, services, state
from dashboard.layer_rows import layer_table
from dashboard.services import Document, Subject
from dashboard.widgets import errors, saved_mixes
from dashboard.widgets.text import plain

_KEY = "recipe.drop"
#: Longer tables scroll.
_ROWS = 6


def draw(on: Subject, document: Document) -> None:
    """The place to drop it, and what became of the last one."""
    brought = state.RECIPES.get().get(on.model.sha256)
    if brought is not None:
        _show(on, brought)
    key = f"{_KEY}.{state.OPENED.get()}"
    st.file_uploader(
        "A recipe from elsewhere (.json)",
        type=["json"],
        max_upload_size=elsewhere.MOST_MB,
        key=key,
        on_change=_take,
        args=(on, document, key),
        help="Of another workspace, the command line, or this model before it was retrained: what differs is listed.",
    )
    errors.beside(_KEY)


def _show(on: Subject, brought: elsewhere.Brought) -> None:
    with st.container(border=True, gap="small"):
        of = f", made for {plain(brought.made_for)}" if brought.made_for else ""
        st.markdown(f"**{plain(brought.name)}**{of}: {plain(brought.line)}")
        if brought.differences:
            st.dataframe(
                pd.DataFrame(brought.differences, columns=["what", "why", "layer"]),
                hide_index=True,
                height="content" if len(brought.differences) <= _ROWS else 35 * _ROWS,
                column_config={
                    "what": st.column_config.TextColumn("What", width=110),
                    "why": st.column_config.TextColumn("Why", width="large"),
                    "layer": st.column_config.TextColumn("Layer"),
                },
                placeholder="–",
                alt="Differences between the model the recipe was made for and this one",
            )
        with st.container(horizontal=True, gap="small"):
            if st.button(
                "Open in Mix", key="recipe.open", icon=":material/tune:", disabled=not brought.recipe["rules"]
            ):
                _forget(on)
                saved_mixes.open_in_mix(on, brought.recipe)
            st.button("Keep it", key="recipe.keep", icon=":material/save:", on_click=_keep, args=(on, brought))
            st.button("Leave it", key="recipe.leave", icon=":material/close:", on_click=_forget, args=(on,))


def _take(on: Subject, document: Document, key: str) -> None:
    given = st.session_state[key]
    if given is None:
        return
    state.OPENED.set(state.OPENED.get() + 1)
    name = loading.shown_name(given.name).removesuffix(".json")
    try:
        state.RECIPES.get()[on.model.sha256] = elsewhere.read(name, given.getvalue(), layer_table(document))
    except MixdeskError as error:
        errors.tell_beside(_KEY, error)


def _keep(on: Subject, brought: elsewhere.Brought) -> None:
    services.save_mix(on, brought.name, brought.recipe)
    _forget(on)


def _forget(on: Subject) -> None:
    state.RECIPES.get().pop(on.model.sha256, None)
