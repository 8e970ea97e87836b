"""Sizes that a model leaves open, to be chosen for synthetic inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from dashboard import loading, state
from dashboard.widgets.text import plain


def editor(inputs: Sequence[Mapping[str, Any]], chosen: Mapping[str, Sequence[int]]) -> None:
    """A number per open size; nothing is drawn where every size is fixed."""
    open_inputs = [spec for spec in inputs if any(not isinstance(size, int) for size in spec["shape"] or ())]
    if not open_inputs:
        return
    with st.form("shapes", border=False):
        st.caption("This model leaves sizes open. Choose them for the synthetic inputs.")
        for spec in open_inputs:
            _sizes(spec, chosen.get(spec["name"]))
        st.form_submit_button("Use these sizes", on_click=_use, args=(open_inputs,))


def _sizes(spec: Mapping[str, Any], chosen: Sequence[int] | None) -> None:
    shape = spec["shape"]
    known = chosen if chosen is not None and len(chosen) == len(shape) else None
    columns = st.columns([2, *[1] * len(shape)], vertical_alignment="bottom")
    columns[0].text(spec["name"])
    for axis, size in enumerate(shape):
        fixed = isinstance(size, int)
        columns[axis + 1].number_input(
            plain(str(size)) if not fixed else f"axis {axis}",
            min_value=1,
            step=1,
            value=size if fixed else (known[axis] if known else 1),
            disabled=fixed,
            key=_key(spec["name"], axis),
        )


def _use(open_inputs: Sequence[Mapping[str, Any]]) -> None:
    sizes = {
        spec["name"]: [int(st.session_state[_key(spec["name"], axis)]) for axis in range(len(spec["shape"]))]
        for spec in open_inputs
    }
    try:
        loading.use_synthetic(sizes)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _key(name: str, axis: int) -> str:
    return f"shapes.{name}.{axis}"
