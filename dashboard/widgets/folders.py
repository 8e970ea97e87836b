"""Server folders: files that the server's owner allowed to be opened, searched and chosen by name and size."""

from __future__ import annotations

import streamlit as st

from core.errors import MixdeskError
from core.intake.folders import MODEL_SUFFIXES, SUFFIXES, AllowedFolder, ServerFile, allowed_folders, list_files
from core.report import quantities
from dashboard import loading, services, state
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
    try:
        _choose(folders[_folder(list(folders), key=key)], key=key)
    except MixdeskError as error:
        errors.show(error)


def _folder(names: list[str], *, key: str) -> str:
    """The folder that is looked into: the one that was chosen last, on whichever page and before whichever error."""
    kept = state.FOLDER.get()
    name = kept if kept in names else names[0]
    if len(names) > 1:
        st.session_state[f"{key}.folder"] = name
        st.selectbox("Server folder", names, key=f"{key}.folder", on_change=_keep_folder, args=(f"{key}.folder",))
    return name


def _keep_folder(key: str) -> None:
    state.FOLDER.set(st.session_state[key])


def _choose(folder: AllowedFolder, *, key: str) -> None:
    """A file of a folder; its field is empty again after each opening, and its button then of no use."""
    with_data = services.subject() is not None
    listing = list_files(folder, SUFFIXES if with_data else MODEL_SUFFIXES)
    if not with_data:
        st.caption("Data files are offered here once a model is open.")
    if not listing.files:
        st.caption(plain(f"The server folder '{folder.name}' has no models{' or data' if with_data else ''}."))
        return
    files = {file.path: file for file in listing.files}
    opened = state.OPENED.get()
    chosen = st.selectbox(
        plain(f"A file of the server folder '{folder.name}'"),
        list(files),
        index=None,
        format_func=lambda path: line(files[path]),
        placeholder=f"Search {len(files)} file{'' if len(files) == 1 else 's'} by name",
        key=f"{key}.{folder.name}.file.{opened}",
    )
    if not listing.complete:
        st.caption(f"Only the first {len(files):,} files are listed.")
    st.button(
        "Open from server",
        key=f"{key}.open.{opened}",
        icon=":material/folder_open:",
        disabled=chosen is None,
        on_click=_open,
        args=(folder.name, chosen, opened),
    )


def line(file: ServerFile) -> str:
    """A file with its size, weights beside it included: "vision/vit.onnx · 1.21 GB"."""
    return f"{file.path} · {quantities.size(file.size_bytes)}"


def _open(folder: str, path: str | None, opened: int) -> None:
    """Opens what was chosen, once: a second press of a button that is about to go finds another count."""
    if path is None or opened != state.OPENED.get():
        return
    state.OPENED.set(opened + 1)
    try:
        loading.open_server_file(folder, path)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
