"""Server folders: files that the server's owner allowed to be opened, searched and chosen by name and size."""

from __future__ import annotations

import streamlit as st

from core.errors import MixdeskError
from core.intake.folders import AllowedFolder, ServerFile, allowed_folders, list_files
from core.report import quantities
from dashboard import loading, state
from dashboard.widgets import errors
from dashboard.widgets.text import plain

_HOW = (
    "For files above the upload limit, the owner of this server can allow a folder: "
    "`mixdesk ui --folder DIR`, or the variable `MIXDESK_MODEL_FOLDERS`."
)


def draw(*, key: str) -> None:
    """The allowed folders with what lies in them; without any, one line on how the owner allows one."""
    folders = {folder.name: folder for folder in allowed_folders()}
    if not folders:
        st.caption(_HOW)
        return
    name = next(iter(folders))
    if len(folders) > 1:
        name = st.selectbox("Server folder", list(folders), key=f"{key}.folder", format_func=str)
    try:
        _choose(folders[name], key=key)
    except MixdeskError as error:
        errors.show(error)


def _choose(folder: AllowedFolder, *, key: str) -> None:
    listing = list_files(folder)
    if not listing.files:
        st.caption(plain(f"The server folder '{folder.name}' has no models or data."))
        return
    files = {file.path: file for file in listing.files}
    chosen = st.selectbox(
        plain(f"A file of the server folder '{folder.name}'"),
        list(files),
        index=None,
        format_func=lambda path: line(files[path]),
        placeholder=f"Search {len(files)} file{'' if len(files) == 1 else 's'} by name",
        key=f"{key}.{folder.name}.file",
    )
    if not listing.complete:
        st.caption(f"Only the first {len(files):,} files are listed.")
    st.button(
        "Open from server",
        key=f"{key}.open",
        icon=":material/folder_open:",
        disabled=chosen is None,
        on_click=_open,
        args=(folder.name, chosen),
    )


def line(file: ServerFile) -> str:
    """A file with its size, weights beside it included: "vision/vit.onnx · 1.21 GB"."""
    return f"{file.path} · {quantities.size(file.size_bytes)}"


def _open(folder: str, path: str | None) -> None:
    if path is None:
        return
    state.OPENED.set(state.OPENED.get() + 1)
    try:
        loading.open_server_file(folder, path)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
