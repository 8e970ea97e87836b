"""Segments: one of a few choices in a row, the first one to begin with; one of them is always chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import streamlit as st

K = TypeVar("K", bound=str)


def segments(label: str, choices: Mapping[K, str], *, key: str) -> K:
    """The key of what is chosen among `choices` (key -> words); `label` is for those who listen to the page."""
    first = next(iter(choices))
    chosen = st.segmented_control(
        label,
        list(choices),
        default=first,
        format_func=choices.__getitem__,
        key=key,
        label_visibility="collapsed",
        required=True,
    )
    return chosen or first
