"""How the model runs: the chip in the strip with threads and batch, and the outputs that count on the Model page."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.errors import MixdeskError
from dashboard import running, services, state
from dashboard.services import Document, Subject
from dashboard.widgets import errors
from dashboard.widgets.text import plain

_MOST_BATCH = 256
_OUTPUTS = "outputs"
#: Longer tables scroll.
_ROWS = 8


def chip(on: Subject) -> None:
    """Threads and batch, and which outputs count; a click opens the fields."""
    document = services.inspection(on)
    known = 0 if document is None else len(document["model"]["outputs"])
    label = running.line(threads=on.threads, batch=on.batch, outputs=on.outputs, known=known)
    with st.popover(label, icon=":material/tune:", type="tertiary", key="strip.running"):
        st.caption("Everything is profiled and measured like this. Figures of other settings stay in their candidates.")
        _fields(on, _obstacle(document))
        if known > 1:
            counted = running.weighted(on.outputs) if on.outputs else f"all {known} the same"
            st.caption(plain(f"Outputs that count: {counted}. They are chosen on the Model page."))


def _fields(on: Subject, obstacle: str | None) -> None:
    left, right = st.columns(2)
    st.session_state["running.threads"] = min(on.threads, _cores())
    st.session_state["running.batch"] = on.batch
    left.number_input("Threads", 1, _cores(), step=1, key="running.threads", on_change=_choose)
    right.number_input(
        "Samples per run",
        1,
        max(_MOST_BATCH, on.batch),
        step=1,
        key="running.batch",
        on_change=_choose,
        disabled=obstacle is not None and on.batch == 1,
    )
    if obstacle is not None:
        st.caption(plain(f"Samples cannot run together: {obstacle}."))


def _choose() -> None:
    state.choose_running(threads=int(st.session_state["running.threads"]), batch=int(st.session_state["running.batch"]))


def _cores() -> int:
    return max(1, services.conditions().cores)


def _obstacle(document: Document | None) -> str | None:
    data = None if document is None else document.get("data")
    found: str | None = None if data is None else data.get("batch_obstacle")
    return found


def outputs(on: Subject, document: Document) -> None:
    """Which outputs a mix is judged by, and how much each weighs; nothing where there is one output only."""
    specs = document["model"]["outputs"]
    names = [str(spec["name"]) for spec in specs]
    if len(names) < 2:
        return
    chosen = {name: weight for name, weight in state.outputs().items() if name in names}
    key = f"outputs.{on.model.sha256[:12]}.{state.OUTPUTS_SEEN.get()}"
    with st.form(f"{key}.form", border=False):
        st.data_editor(
            pd.DataFrame(running.rows(names, chosen)),
            key=key,
            hide_index=True,
            disabled=["name"],
            height="content" if len(names) <= _ROWS else 35 * _ROWS,
            column_config={
                "name": st.column_config.TextColumn("Output"),
                running.COUNTS: st.column_config.CheckboxColumn("Counts", width=80),
                running.WEIGHT: st.column_config.NumberColumn("Weight", min_value=0.0, width=90),
            },
        )
        st.form_submit_button(
            "Judge by these outputs",
            on_click=_judge_by,
            args=(key, names),
            help="A mix is as good as its worst output that counts; an error in one of weight 2 counts twice.",
        )
    errors.beside(_OUTPUTS)


def _judge_by(key: str, names: Sequence[str]) -> None:
    edits = {int(row): cells for row, cells in st.session_state[key]["edited_rows"].items()}
    chosen = {name: weight for name, weight in state.outputs().items() if name in names}
    try:
        state.choose_outputs(running.read_rows(names, chosen, edits))
    except MixdeskError as error:
        errors.tell_beside(_OUTPUTS, error)
    state.OUTPUTS_SEEN.set(state.OUTPUTS_SEEN.get() + 1)
