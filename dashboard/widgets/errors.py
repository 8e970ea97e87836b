"""What went wrong, in one line with a hint: never a stack trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from dashboard import state
from dashboard.widgets.text import plain


def show(error: MixdeskError) -> None:
    """Draws an error that Mixdesk raised on purpose."""
    show_document(error.to_dict())


def tell_beside(field: str, error: MixdeskError) -> None:
    """Leaves an error to be shown once where `field` is, instead of at the top of a page that may be out of view."""
    state.NOTICES.get()[field] = error.to_dict()


def beside(field: str) -> None:
    """Draws what was left for this field; call it right below the field."""
    told = state.NOTICES.get().pop(field, None)
    if told is not None:
        show_document(told)


def show_document(error: Mapping[str, Any] | None) -> None:
    """Draws the `error` object of a job or document: message and, if there is one, hint."""
    given = error or {}
    message = plain(str(given.get("message") or "It ended without saying why."))
    hint = given.get("hint")
    st.error(f"{message}  \n{plain(str(hint))}" if hint else message, icon=":material/error:")
