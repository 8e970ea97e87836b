"""A button that saves a file of the workspace under a name."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard import services


def file(
    label: str,
    sha256: str,
    file_name: str,
    *,
    key: str,
    kind: Literal["primary", "secondary", "tertiary"] = "secondary",
) -> None:
    """Draws the button; the browser fetches the file itself, so that its size does not matter.

    Where the file is gone (somebody cleaned the workspace), the button is there but cannot be pressed, and says why.
    """
    missing = services.find_file(sha256) is None
    st.link_button(
        label,
        services.file_url(sha256, file_name),
        key=key,
        icon=":material/download:",
        type=kind,
        disabled=missing,
        help="The workspace no longer has this file; build it again." if missing else None,
    )
