"""One run in full: buttons, what came of it and why, its family, its conditions, its recipe, its error and its log."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.report import diagnosis, quantities
from core.report.asked import tried
from core.store.rows import JobRow, JobState
from dashboard import conditions, services, state
from dashboard.run_rows import RunRow
from dashboard.run_tables import duration, state_text
from dashboard.services import Document
from dashboard.widgets import errors, jobs, run_actions
from dashboard.widgets.text import plain, sentence

_NEGATIVE = ("unchanged", "worse", "no difference seen", "too noisy", "target missed", "differs")


def draw(run: RunRow, rows: Sequence[RunRow]) -> None:
    """Draws the run below the table."""
    document = services.document_of(run)
    with st.container(border=True, gap="small", key="run"):
        _head(run)
        run_actions.draw(run, document)
        _family(run, rows)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _ending(run)
            _outcome(run, document)
        with right:
            _facts(run, document)
        _drawers(run, document)


def _head(run: RunRow) -> None:
    parts = [state_text(run), run.id, conditions.moment(run.when.isoformat(timespec="seconds"))]
    if run.seconds is not None:
        parts.append(f"{'took' if not run.is_active else 'runs for'} {duration(run.seconds)}")
    st.markdown(f"**{plain(run.title)}** :gray[{plain(' · '.join(parts))}]")


def _ending(run: RunRow) -> None:
    """How a job stands that is not simply done."""
    if run.job is None or run.job.state is JobState.DONE:
        return
    if run.is_active:
        fraction = min(max(run.job.fraction or 0.0, 0.0), 1.0)
        st.progress(fraction, text=plain(jobs.progress_line(run.job)))
        jobs.found(run.job)
        return
    errors.show_document(jobs.told_error(run.job.error, found=bool(services.partials(run.job.id))))


def _outcome(run: RunRow, document: Document | None) -> None:
    """The figures, and where they are not good, why."""
    outcome = run.outcome
    told = []
    if outcome.ratio is not None:
        interval = (
            f" [{quantities.three(outcome.ci95[0])}, {quantities.three(outcome.ci95[1])}]" if outcome.ci95 else ""
        )
        told.append(f"Speed-up {quantities.ratio(outcome.ratio)}{interval}")
    if outcome.sqnr_db is not None:
        told.append(f"SQNR {quantities.with_unit(outcome.sqnr_db, 'dB')}")
    if outcome.accuracy_change is not None:
        told.append(f"accuracy {quantities.points(outcome.accuracy_change)}")
    if outcome.verdict:
        told.append(outcome.verdict)
    if told:
        st.markdown(plain(" · ".join(told)))
    if outcome.verdict in _NEGATIVE:
        _diagnosis(run, document or {})
    elif outcome.note and (run.job is None or run.job.state is JobState.DONE):
        st.caption(plain(outcome.note))


def _diagnosis(run: RunRow, document: Mapping[str, Any]) -> None:
    """Why nothing was gained, in words with figures."""
    built = document.get("layers") and document.get("recipe")
    found = diagnosis.reasons(document) if built else ()
    notes = [text for text in (run.outcome.note, *found) if text]
    if document.get("tried"):
        notes.append(tried(document["tried"]))
    st.markdown("**Why nothing was gained**" if run.outcome.verdict != "target missed" else "**What is known**")
    for text in dict.fromkeys(notes):
        st.markdown(f"- {plain(sentence(text))}")
    if not notes:
        st.caption("The document gives no reason.")


def _family(run: RunRow, rows: Sequence[RunRow]) -> None:
    """Lineage: model, data, the jobs it goes on with, the job, its candidate, what the comparison said."""
    known = {row.id for row in rows}
    steps: list[Callable[[], None]] = []
    if run.model:
        steps.append(partial(_step, ":material/deployed_code:", run.model))
    if run.data:
        steps.append(partial(_step, ":material/dataset:", "synthetic data" if run.data == "synthetic" else run.data))
    if run.job is not None:
        family = services.lineage(run.job)
        if run.job.resumes and not family.before:
            steps.append(partial(_step, ":material/history:", f"{run.job.resumes} (forgotten)"))
        steps += [partial(_other, other, known) for other in reversed(family.before)]
        steps.append(partial(_step, ":material/play_circle:", f"this job ({run.state})"))
        steps += [partial(_other, other, known) for other in family.after]
    if run.candidate is not None:
        steps.append(partial(_step, ":material/inventory_2:", run.candidate.name or run.candidate.id))
    if run.outcome.verdict:
        steps.append(partial(_step, ":material/compare:", run.outcome.verdict))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="run.family"):
        for number, step in enumerate(steps):
            if number:
                st.markdown(":gray[→]", width="content")
            step()


def _step(icon: str, text: str) -> None:
    st.markdown(f"{icon} {plain(text)}", width="content")


def _other(other: JobRow, known: set[str]) -> None:
    st.button(
        f"{other.id} ({other.state})",
        key=f"run.family.{other.id}",
        type="tertiary",
        icon=":material/play_circle:",
        on_click=state.choose_run,
        args=(other.id,),
        disabled=other.id not in known,
        help="The same work, tried before or after",
    )


def _facts(run: RunRow, document: Document | None) -> None:
    """What it was measured under, and what was computed for it and what was there already."""
    measured = ((document or {}).get("comparison") or {}).get("conditions") or (document or {}).get("conditions")
    if measured:
        st.caption(plain(conditions.sentence(measured)))
    units = (document or {}).get("units")
    if units:
        st.caption(plain(units_line(units)))
    if run.job is not None and run.job.resumes:
        st.caption(plain(f"Goes on with {run.job.resumes}."))


def units_line(units: Mapping[str, Any]) -> str:
    """How much was there already: "3 units computed, 21 reused (key 0a1b)"."""
    computed = int(units.get("computed") or 0)
    noun = "unit" if computed == 1 else "units"
    return f"{computed} {noun} computed, {units.get('reused') or 0} reused from earlier work (key {units.get('key')})"


def _drawers(run: RunRow, document: Document | None) -> None:
    """What is long: one click away."""
    if run.job is not None:
        jobs.log(run.job, key="run")
    recipe = (document or {}).get("recipe")
    if recipe:
        drawer = st.expander(
            "Recipe",
            icon=":material/receipt_long:",
            key=f"run.drawer.recipe.{run.id}",
            on_change="rerun",
            type="compact",
        )
        if drawer.open:
            drawer.json(recipe, expanded=2)
    if run.job is not None:
        drawer = st.expander(
            "What it was told",
            icon=":material/list:",
            key=f"run.drawer.params.{run.id}",
            on_change="rerun",
            type="compact",
        )
        if drawer.open:
            drawer.json({key: value for key, value in run.job.params.items() if key != "recipe"}, expanded=2)
