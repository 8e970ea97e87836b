"""The capability grid on the page Machine: what each precision comes to, operator by operator, with filters."""

from __future__ import annotations

import streamlit as st

from core.recipe.precision import Support
from dashboard import machine_view
from dashboard.run_tables import ROW_PX, table_height
from dashboard.services import Document
from dashboard.tables import Table
from dashboard.widgets.text import plain

_GRID_PX = 640


def grid(document: Document | None) -> None:
    """What runs in which precision, and how fast."""
    st.subheader("What this machine executes", anchor=False)
    if document is None or not document["capability"]:
        st.caption(
            "Nobody knows yet: the probe builds one-operator models, looks at which kernels run and times them. "
            "Until then only fp32 is offered on the Mix page."
        )
        return
    meant = [f"{machine_view.MARKS[each]} **{each}**: {words}" for each, words in machine_view.MEANING.items()]
    st.caption(" · ".join(meant))
    _table(machine_view.counted(document), "machine.counted", "Precisions by state: how many operators and shapes")
    missing = machine_view.not_probed(document)
    if missing:
        st.caption(plain(missing))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        ops = st.multiselect(
            "Operators", machine_view.operators(document), key="machine.ops", placeholder="All operators"
        )
        states = st.pills(
            "In any precision",
            [str(support) for support in Support],
            format_func=lambda name: f"{machine_view.MARKS[Support(name)]} {name}",
            selection_mode="multi",
            key="machine.states",
        )
    shown = machine_view.grid(machine_view.chosen(document, ops=ops, states=states))
    if not shown.ids:
        st.caption("No operator is like that. Take a filter away.")
        return
    _operators(document, shown)


def _operators(document: Document, shown: Table) -> None:
    told = st.dataframe(
        shown.frame,
        column_config=shown.config,
        hide_index=True,
        height=table_height(len(shown.ids), _GRID_PX),
        row_height=ROW_PX,
        key="machine.grid",
        on_select="rerun",
        selection_mode="single-row",
        alt="Operators by precision: executed, emulated, simulated or unavailable, with measured speed-ups",
    )
    rows = told["selection"]["rows"]
    if not rows or rows[0] >= len(shown.ids):
        st.caption("Choose a row to see intervals, what the runtime ran, and why it refused.")
        return
    name = shown.ids[rows[0]]
    st.markdown(f"**{plain(name)}**")
    _table(machine_view.reasons(document, name), "machine.reasons", f"{name} in every precision")


def _table(table: Table, key: str, alt: str) -> None:
    st.dataframe(
        table.frame,
        column_config=table.config,
        hide_index=True,
        height=table_height(len(table.ids), _GRID_PX),
        row_height=ROW_PX,
        key=key,
        alt=alt,
    )
