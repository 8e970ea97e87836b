"""Sizes that a model leaves open: proposed, chosen for synthetic inputs, and kept with the model under a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from dashboard import loading, services, shape_fields, state
from dashboard.services import Subject
from dashboard.shape_fields import Field
from dashboard.widgets import errors
from dashboard.widgets.text import plain

_COLUMNS = 3
_SHAPES = "shapes"

Inputs = Sequence[Mapping[str, Any]]
Shapes = Mapping[str, Sequence[int]]


def editor(on: Subject, inputs: Inputs, proposed: Shapes) -> None:
    """A field per open size and the sizes kept under a name; nothing is drawn where every size is fixed."""
    open_inputs = [spec for spec in inputs if shape_fields.is_open(spec)]
    if not open_inputs:
        return
    chosen = state.shapes()
    known = {**proposed, **chosen}
    told = "chosen" if chosen else "proposed from names and places of the axes"
    st.caption(f"This model leaves sizes open. These are {told}:")
    with st.form("shapes", border=False):
        asked = shape_fields.fields(open_inputs, known)
        _draw(on, asked)
        st.form_submit_button("Use these sizes", on_click=_use, args=(on, open_inputs, asked))
    errors.beside(_SHAPES)
    _kept(on, {name: known[name] for name in known if any(spec["name"] == name for spec in open_inputs)})


def _draw(on: Subject, asked: Sequence[Field]) -> None:
    for start in range(0, len(asked), _COLUMNS):
        columns = st.columns(_COLUMNS, vertical_alignment="bottom")
        for column, field in zip(columns, asked[start : start + _COLUMNS], strict=False):
            key, label = _key(on, field), plain(field.label)
            if field.is_shape:
                column.text_input(label, value=field.whole, key=key, help="Sizes like 1x3x224x224.")
            else:
                column.number_input(label, min_value=1, step=1, value=field.size, key=key)


def _kept(on: Subject, now: Shapes) -> None:
    """Choosing, keeping and deleting sizes under a name."""
    rows = {row.name: row.shapes for row in services.named_shapes(on)}
    current = next((name for name, shapes in rows.items() if _same(shapes, now)), None)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        if rows:
            st.session_state["shapes.kept"] = current
            st.selectbox(
                "Kept sizes",
                list(rows),
                format_func=lambda name: f"{name}: {shape_fields.told(rows[name])}",
                index=None,
                placeholder="Choose kept sizes",
                key="shapes.kept",
                on_change=_choose,
                args=(on,),
                width=260,
            )
            st.button(
                "Delete",
                icon=":material/delete:",
                key="shapes.delete",
                type="tertiary",
                disabled=current is None,
                on_click=_delete,
                args=(on, current),
            )
        if current is None and now:
            st.text_input("Keep these sizes as", key="shapes.name", width=180, max_chars=60, placeholder="a name")
            st.button("Keep", icon=":material/save:", key="shapes.keep", on_click=_keep, args=(on, now))


def _use(on: Subject, open_inputs: Inputs, asked: Sequence[Field]) -> None:
    filled = {field: st.session_state[_key(on, field)] for field in asked}
    _try(lambda: loading.use_synthetic(shape_fields.shapes_of(open_inputs, filled)))


def _choose(on: Subject) -> None:
    name: str | None = st.session_state["shapes.kept"]
    shapes = next((row.shapes for row in services.named_shapes(on) if row.name == name), None)
    if shapes is not None:
        _try(lambda: loading.use_synthetic(shapes))


def _keep(on: Subject, shapes: Shapes) -> None:
    name = str(st.session_state.get("shapes.name") or "").strip() or shape_fields.told(shapes)[:60]
    services.save_shapes(on, name, shapes)


def _delete(on: Subject, name: str | None) -> None:
    if name is not None:
        services.remove_shapes(on, name)


def _try(act: Any) -> None:
    try:
        act()
    except MixdeskError as error:
        errors.tell_beside(_SHAPES, error)


def _same(one: Shapes, other: Shapes) -> bool:
    return {name: tuple(sizes) for name, sizes in one.items()} == {name: tuple(sizes) for name, sizes in other.items()}


def _key(on: Subject, field: Field) -> str:
    """Changes with what the field begins with, so that kept sizes that are chosen show up in it."""
    return f"shapes.{on.model.sha256[:12]}.{field.label}.{field.whole or field.size}"
