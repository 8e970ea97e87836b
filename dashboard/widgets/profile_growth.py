"""The form that measures how costs grow with an open size of the model's inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from dashboard import growth_sizes, services
from dashboard.services import Subject
from dashboard.shape_fields import Field
from dashboard.widgets import errors
from dashboard.widgets.text import plain

_FIELD = "growth"
_KIND = "profile"


def growth_form(on: Subject) -> None:
    """Which open size, the sizes to try, and the button; a sentence where every size is fixed."""
    inspection = services.inspection(on) or {}
    inputs = (inspection.get("model") or {}).get("inputs") or []
    known = (inspection.get("data") or {}).get("shapes") or {}
    offered = growth_sizes.open_sizes(inputs, known)
    if not offered:
        st.caption("Every size of this model's inputs is fixed: there is nothing that its cost could grow with.")
        return
    labels = {field.label: field for field in offered}
    left, middle, right = st.columns([1, 2, 1], gap="small", vertical_alignment="bottom")
    label = left.selectbox("Size that grows", list(labels), key=f"growth.{on.model.sha256[:12]}.size")
    field = labels[str(label)]
    key = f"growth.{on.model.sha256[:12]}.{field.label}.{field.size}"
    proposed = ", ".join(str(size) for size in growth_sizes.three_sizes(field.size))
    middle.text_input(
        "Measure at", value=proposed, key=key, max_chars=120, help="Two to twelve sizes. Values are synthetic."
    )
    busy = services.job_of(on, _KIND) is not None
    if right.button("Measure growth", icon=":material/trending_up:", key="growth.run", disabled=busy) and _submit(
        on, inputs, known, field, key
    ):
        st.rerun(scope="app")  # the job's card stands at the top of the page
    errors.beside(_FIELD)
    st.caption(
        plain(
            "Profiles the model again, and at each of these sizes with synthetic inputs, in turn in the same sessions. "
            f"Other open sizes stay as they are: {_others(offered, field)}."
        )
        if len(offered) > 1
        else "Profiles the model again, and at each of these sizes with synthetic inputs, in turn in the same sessions."
    )


def _submit(on: Subject, inputs: Sequence[Mapping[str, Any]], known: Mapping[str, Any], field: Field, key: str) -> bool:
    """Whether the job is queued; else why not stands below the field."""
    try:
        sizes = growth_sizes.read_sizes(str(st.session_state[key]))
        named = growth_sizes.named_shapes(inputs, known, field, sizes)
        services.submit(on, _KIND, title=f"Profile {on.model.name}", named_shapes=named)
    except MixdeskError as error:
        errors.tell_beside(_FIELD, error)
        return False
    return True


def _others(offered: Sequence[Field], chosen: Field) -> str:
    return ", ".join(f"{field.label} {field.size}" for field in offered if field is not chosen)
