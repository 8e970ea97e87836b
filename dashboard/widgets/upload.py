"""Uploads: one place to drop a model, its data, or both."""

from __future__ import annotations

import streamlit as st

from core.errors import MixdeskError
from dashboard import loading, state
from dashboard.options import UPLOAD_LIMIT_MB
from dashboard.widgets import errors

#: A model may keep its weights in files of any name: the drop zone takes everything, and what is of no use is told.
ANY: tuple[str, ...] | None = None


def drop_files(label: str, *, kinds: tuple[str, ...] | None, key: str, stays: bool = True) -> None:
    """A drop zone; files are taken as soon as they are there, and the zone is empty again.

    Args:
        label: what is to be dropped.
        kinds: endings; None: any file.
        key: names the zone.
        stays: whether the zone is still in view after a drop, so that an error is told below it; else at the top.
    """
    name = f"{key}.{state.OPENED.get()}"
    st.file_uploader(
        label,
        type=None if kinds is None else list(kinds),
        accept_multiple_files=True,
        max_upload_size=UPLOAD_LIMIT_MB,
        key=name,
        on_change=_take,
        args=(name, key if stays else None),
    )
    errors.beside(key)


def _take(name: str, place: str | None) -> None:
    given = st.session_state[name] or []
    if not given:
        return
    state.OPENED.set(state.OPENED.get() + 1)
    try:
        loading.open_upload([(file.name, file.getvalue()) for file in given])
    except MixdeskError as error:
        if place is None:
            state.NOTICE.set(error.to_dict())
        else:
            errors.tell_beside(place, error)


def other_data() -> None:
    """After data that did not fit: give other data, or go on without it."""
    st.button("Go on without this data", key="upload.leave", icon=":material/undo:", on_click=loading.leave_data)
    drop_files("Other data (.npz, or images, sound or text)", kinds=ANY, key="upload.other")
