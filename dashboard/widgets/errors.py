"""What went wrong, in one line with a hint: never a stack trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from dashboard.widgets.text import plain


def show(error: MixdeskError) -> None:
    """Draws an error that Mixdesk raised on purpose."""
    show_document(error.to_dict())


def show_document(error: Mapping[str, Any] | None) -> None:
    """Draws the `error` object of a job or document: message and, if there is one, hint."""
    given = error or {}
    message = plain(str(given.get("message") or "It ended without saying why."))
    hint = given.get("hint")
    st.error(f"{message}  \n{plain(str(hint))}" if hint else message, icon=":material/error:")
