"""Disk use: what the workspace takes, what could be freed, and the buttons that free it."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

import streamlit as st

from core.errors import MixdeskError
from core.report import quantities
from core.store.disk_use import DiskUse, ModelUse
from core.store.rows import now
from dashboard import services, state
from dashboard.run_tables import ROW_PX, disk_table, table_height
from dashboard.widgets.text import plain

_TABLE_PX = 420
_AGES = {"All": 0, "Older than a day": 1, "Older than 7 days": 7, "Older than 30 days": 30}


def draw() -> None:
    """The sums, the models, and what can be cleaned."""
    use = services.disk_use()
    freed = state.FREED.get()
    if freed is not None:
        st.success(plain(freed), icon=":material/check_circle:")
        state.FREED.set(None)
    st.markdown(f"**{quantities.size(use.total_bytes)}** in all · :gray[{plain(parts_line(use))}]")
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _unused(use)
        _old_jobs()
    for line in (held_line(use, now()), jobs_line(use)):
        if line:
            st.caption(plain(line))
    table = disk_table(use)
    event = st.dataframe(
        table.styled,
        column_config=table.config,
        hide_index=True,
        height=table_height(len(table.ids), _TABLE_PX),
        row_height=ROW_PX,
        key=f"runs.disk.{hash(table.ids)}",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
        alt="Room taken by each model and what belongs to it, and by what belongs to none",
    )
    ids = table.ids_at(event.selection.rows)
    model = next((row for row in use.models if ids and row.sha256 == ids[0]), None)
    if not use.models:
        st.caption("No model is kept here.")
    elif model is None:
        st.caption("Choose a model to delete it with all that belongs to it.")
    else:
        _delete_model(model)


def parts_line(use: DiskUse) -> str:
    """What the sum is made of."""
    database = "elsewhere" if not use.database_bytes else quantities.size(use.database_bytes)
    parts = [
        f"{use.file_count} file{'' if use.file_count == 1 else 's'} {quantities.size(use.files_bytes)}",
        f"database {database} (with {quantities.size(use.cache_bytes)} of cached measurements)",
        f"logs {quantities.size(use.logs_bytes)}",
    ]
    return " · ".join(parts)


def held_line(use: DiskUse, at: datetime) -> str:
    """Why files that nothing refers to cannot be freed yet, and until when; empty where all can."""
    if use.held_until is None:
        return ""
    minutes = max(1, math.ceil((use.held_until - at).total_seconds() / 60))
    return (
        f"{quantities.size(use.held_bytes)} that nothing refers to came within the last hour and may belong to an "
        f"upload that is still on its way: it can be freed in {minutes} {'minute' if minutes == 1 else 'minutes'}."
    )


def jobs_line(use: DiskUse) -> str:
    """What only jobs on no model name, such as data that was dropped without one; empty where that is nothing."""
    if not use.job_files_bytes:
        return ""
    return f"{quantities.size(use.job_files_bytes)} was opened by jobs on no model: it goes when these are forgotten."


def _unused(use: DiskUse) -> None:
    st.button(
        f"Free unused files ({quantities.size(use.unused_bytes)})",
        key="runs.disk.unused",
        icon=":material/cleaning_services:",
        on_click=_free_unused,
        disabled=not use.unused_bytes,
        help="Stored files that nothing refers to. What an ended job names goes when the job or its model is deleted.",
    )


def _old_jobs() -> None:
    with st.popover("Forget ended jobs", icon=":material/auto_delete:", key="runs.disk.jobs"):
        age = st.selectbox("Which", list(_AGES), index=3, key="runs.disk.age")
        candidates = st.checkbox("Also delete the models that they built", key="runs.disk.candidates")
        st.button(
            "Forget them for good",
            key="runs.disk.forget",
            type="primary",
            icon=":material/delete_forever:",
            on_click=_forget,
            args=(timedelta(days=_AGES[age]), candidates),
        )


def _delete_model(model: ModelUse) -> None:
    with st.popover(f"Delete {plain(model.name)}", icon=":material/delete:", key="runs.disk.delete"):
        st.markdown(
            f"The model {plain(model.name)} goes with its data, candidates, saved mixes, cached measurements, and the "
            f"ended jobs that opened it or worked on it. {plain(quantities.size(model.freed_bytes))} will be freed."
        )
        st.button(
            "Delete for good",
            key="runs.disk.delete.yes",
            type="primary",
            icon=":material/delete_forever:",
            on_click=_delete_now,
            args=(model,),
        )


def _free_unused() -> None:
    try:
        state.FREED.set(f"{quantities.size(services.free_unused())} freed.")
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())


def _forget(age: timedelta, candidates: bool) -> None:
    try:
        done = services.clean_jobs(older_than=age, candidates=candidates)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
        return
    built = f" and {done.candidates} candidates" if done.candidates else ""
    kept = f" {len(done.kept)} had to stay: {done.kept[0]}" if done.kept else ""
    state.FREED.set(f"{done.jobs} jobs{built} forgotten, {quantities.size(done.freed_bytes)} freed.{kept}")


def _delete_now(model: ModelUse) -> None:
    try:
        freed = services.delete_model(model.sha256)
    except MixdeskError as error:
        state.NOTICE.set(error.to_dict())
        return
    on_desk = state.MODEL.get()
    if on_desk is not None and model.sha256.startswith(on_desk):
        state.choose_model(None)
    state.MIXES.get().pop(model.sha256, None)
    state.FREED.set(f"{model.name} deleted, {quantities.size(freed)} freed.")
