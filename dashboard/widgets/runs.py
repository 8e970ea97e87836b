"""The page Runs: filters, the table of all jobs and candidates, and below it the run that was chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.report import quantities
from core.store.rows import JobState
from dashboard import services, state
from dashboard.run_rows import BUILT, RunRow, chosen
from dashboard.run_tables import ROW_PX, run_table, table_height
from dashboard.tables import Table
from dashboard.widgets import empty, run_details
from dashboard.widgets.text import plain

_REFRESH_S = 2.0
_TABLE_PX = 420
_STATES = (*(str(each) for each in JobState), BUILT)


def nothing_yet() -> None:
    """Where nothing ever ran: what will be here, and how to make it so."""
    st.markdown("### Nothing has run yet")
    st.caption(
        "Every job (reading a model, profiling, building, searching) and every model that was built is kept here, with "
        "what came of it, good or bad. Open a sample on the Model page to begin."
    )
    if st.button("Open Model", icon=":material/deployed_code:", type="primary", key="runs.model.open"):
        st.switch_page("app_pages/model.py", query_params=state.link())


def draw() -> None:
    """Filters and table; they bring themselves up to date while anything runs or waits."""
    known = services.all_runs()
    if not known:
        nothing_yet()
        return
    shown_by = _filters(known)
    lively = any(row.is_active for row in known)

    @st.fragment(run_every=_REFRESH_S if lively else None)
    def live() -> None:
        empty.notice()
        rows = services.all_runs()
        if lively != any(row.is_active for row in rows):
            st.rerun()  # begins or ends the refreshing, here and in the strip
        shown = shown_by(rows)
        _table(shown, rows)
        _details(rows)

    live()


class _Filter:
    """What the visitor wants to see."""

    def __init__(self, text: str, model: str | None, kinds: Sequence[str], states: Sequence[str]) -> None:
        self._text, self._model, self._kinds, self._states = text, model, tuple(kinds), tuple(states)

    def __call__(self, rows: Sequence[RunRow]) -> tuple[RunRow, ...]:
        return chosen(rows, text=self._text, model=self._model, kinds=self._kinds, states=self._states)


def _filters(rows: Sequence[RunRow]) -> _Filter:
    """The fields, each as the link has it: what was chosen outlives another tab, another page and a reload."""
    models = {row.model_sha256: row.model for row in rows if row.model_sha256 is not None and row.model}
    wanted_model = state.RUNS_MODEL.get()
    fields = st.session_state
    fields["runs.text"] = state.RUNS_TEXT.get() or ""
    fields["runs.model"] = next((each for each in models if wanted_model and each.startswith(wanted_model)), None)
    kinds = sorted({row.kind for row in rows})
    states = [each for each in _STATES if any(row.state == each for row in rows)]
    fields["runs.kinds"] = [each for each in state.words(state.RUNS_KINDS) if each in kinds]
    fields["runs.states"] = [each for each in state.words(state.RUNS_STATES) if each in states]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="runs.filters"):
        text = st.text_input(
            "Search", key="runs.text", placeholder="Search title, model, verdict, id", icon=":material/search:",
            label_visibility="collapsed", width=240, on_change=_keep, args=("runs.text", state.RUNS_TEXT.set),
        )  # fmt: skip
        model = st.selectbox(
            "Model", list(models), index=None, format_func=lambda sha256: models[sha256], key="runs.model",
            placeholder="All models", label_visibility="collapsed", width=180,
            on_change=_keep, args=("runs.model", state.RUNS_MODEL.set),
        )  # fmt: skip
        wanted_kinds = st.multiselect(
            "Kinds", kinds, key="runs.kinds", placeholder="All kinds", label_visibility="collapsed", width=170,
            on_change=_keep, args=("runs.kinds", partial(state.choose_words, state.RUNS_KINDS)),
        )  # fmt: skip
        wanted_states = st.multiselect(
            "States", states, key="runs.states", placeholder="All states", label_visibility="collapsed", width=170,
            on_change=_keep, args=("runs.states", partial(state.choose_words, state.RUNS_STATES)),
        )  # fmt: skip
    return _Filter(text or "", model, wanted_kinds, wanted_states)


def _keep(field: str, keep: Callable[[Any], None]) -> None:
    keep(st.session_state[field])


def _table(shown: Sequence[RunRow], rows: Sequence[RunRow]) -> None:
    everything = quantities.counted(len(rows), "run")
    counted = everything if len(shown) == len(rows) else f"{len(shown)} of {everything}"
    active = sum(1 for row in rows if row.is_active)
    st.caption(f"{counted}{f', {active} running or waiting' if active else ''}")
    if not shown:
        st.info("No run is like that: take a filter off.", icon=":material/filter_alt_off:")
        return
    table = run_table(shown)
    at = [place for place, run_id in enumerate(table.ids) if run_id == state.RUN.get()]
    key = f"runs.table.{hash(table.ids)}.{state.RUN_CHOSEN.get()}"
    state.RUN_TABLE.set(key)
    st.dataframe(
        table.frame,
        column_config=table.config,
        hide_index=True,
        height=table_height(len(shown), _TABLE_PX),
        row_height=ROW_PX,
        key=key,
        on_select=lambda: _choose(key, table),
        selection_mode="single-row",
        selection_default={"selection": {"rows": at}},
        placeholder="",
        alt="All jobs and candidates, newest first",
    )


def _choose(key: str, table: Table) -> None:
    """A click in the table; browsers also tell, late, what was selected in the table that stood there before."""
    if key != state.RUN_TABLE.get():
        return
    ids = table.ids_at(st.session_state[key].selection.rows)
    state.RUN.set(ids[0] if ids else None)


def _details(rows: Sequence[RunRow]) -> None:
    wanted = state.RUN.get()
    run = next((row for row in rows if wanted is not None and wanted in (row.id, _candidate_id(row))), None)
    if run is not None:
        run_details.draw(run, rows)
    elif wanted is not None:
        st.warning(f"This link names the run {plain(wanted)}, which this workspace does not have (any more).")
    else:
        st.caption("Choose a run to see its log, its family, what it was measured under, and what can be done with it.")


def _candidate_id(row: RunRow) -> str | None:
    return None if row.candidate is None else row.candidate.id
