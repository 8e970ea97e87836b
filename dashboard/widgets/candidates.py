"""All candidates of a model: which one is shown, what they are held against, and two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.report import quantities
from core.store.rows import CandidateRow
from dashboard import candidate_names, comparison_view, conditions, services, state
from dashboard.candidate_tables import NO_CANDIDATE, Shown, candidate_table, layer_precision_table
from dashboard.candidates_view import ORIGINAL, Entry, compare_all, differences, facts_of
from dashboard.file_names import slug
from dashboard.layer_views import LayerView
from dashboard.run_tables import ROW_PX, table_height
from dashboard.services import Subject
from dashboard.tables import Table
from dashboard.widgets import bundle, comparison, download, jobs, layer_choice
from dashboard.widgets.text import plain

_TABLE_PX = 500
#: Room for the names as `candidate_names` shortens them.
_CANDIDATE_PX, _BASELINE_PX = 315, 205


def picker(on: Subject, known: Sequence[CandidateRow], current: CandidateRow, baseline: CandidateRow | None) -> None:
    """Which candidate is shown, what all are held against, and the files to take away."""
    labels, names = candidate_names.names_and_times(known), {NO_CANDIDATE: ORIGINAL, **candidate_names.names(known)}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.session_state["compare.candidate"] = current.id
        st.selectbox(
            "Candidate",
            list(labels),
            format_func=labels.__getitem__,
            key="compare.candidate",
            on_change=_choose_candidate,
            width=_CANDIDATE_PX,
        )
        st.session_state["compare.baseline"] = NO_CANDIDATE if baseline is None else baseline.id
        st.selectbox(
            "Baseline",
            list(names),
            format_func=names.__getitem__,
            key="compare.baseline",
            on_change=lambda: services.set_baseline(on, st.session_state["compare.baseline"] or None),
            width=_BASELINE_PX,
            help="What every candidate is held against. It stays pinned to this model, for everybody who opens it.",
        )
        st.space("stretch")
        _files(on, current)


def _choose_candidate() -> None:
    state.CANDIDATE.set(st.session_state["compare.candidate"])


def _files(on: Subject, current: CandidateRow) -> None:
    stem = slug(on.model.name, current.name or current.id)
    bundle.download_bundle(current, key="compare.bundle", model_name=on.model.name, kind="primary")
    download.file("Download .onnx", current.file_sha256, f"{stem}.onnx", key="compare.onnx")
    with st.popover("More files", icon=":material/download:", key="compare.files"):
        bundle.download_report(current, key="compare.report", stem=stem)
        comparison.download_json("recipe", comparison.recipe_of(current), f"{stem}-recipe.json")
        comparison.download_json("result", current.report, f"{stem}-result.json")
        bundle.download_layers(current.report, key="compare.layers", stem=f"{stem}-layers")


def overview(
    on: Subject,
    known: Sequence[CandidateRow],
    current: CandidateRow,
    baseline: CandidateRow | None,
    views: Sequence[LayerView],
) -> None:
    """All candidates against the baseline; nothing where there is only one and the original is the baseline."""
    if len(known) < 2:
        return
    with st.container(border=True, gap="small"):
        found, only = _filters(known)
        entries = compare_all(found, baseline, services.facts_here(on), services.pairs(on, baseline, found))
        shown = candidate_table(entries, only_differences=only)
        _told(found, known, baseline)
        _table(shown.table, current)
        _notes(shown, entries, baseline, only=only)
        with st.expander(
            "Precision of each layer", icon=":material/table_rows:", key="compare.precisions", on_change="rerun"
        ) as layers:
            if layers.open:
                _layers(entries, baseline, views, only=only)


def _filters(known: Sequence[CandidateRow]) -> tuple[list[CandidateRow], bool]:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.markdown(f"**{len(known)} candidates**", width="content")
        text = st.text_input(
            "Filter by name",
            key="compare.filter",
            placeholder="Filter by name",
            icon=":material/search:",
            label_visibility="collapsed",
            width=240,
        )
        only = st.toggle("Show only what differs", value=True, key="compare.differs")
    wanted = (text or "").casefold().strip()
    return [row for row in known if wanted in (row.name or row.id).casefold()], only


def _told(found: Sequence[CandidateRow], known: Sequence[CandidateRow], baseline: CandidateRow | None) -> None:
    against = "the original" if baseline is None else f"'{baseline.name or baseline.id}'"
    words = [f"Held against {against}"]
    if len(found) < len(known):
        words.append(f"that is in the name of {len(found)} of {len(known)}")
    st.caption(plain(" · ".join([*words, "click a candidate's row to see it below"])))


def _table(table: Table, current: CandidateRow) -> None:
    at = [place for place, each in enumerate(table.ids) if each == current.id]
    key = f"compare.all.{hash(table.ids)}.{current.id}.{state.NO_CANDIDATE_CHOSEN.get()}"
    st.dataframe(
        table.frame,
        column_config=table.config,
        hide_index=True,
        height=table_height(len(table.ids), _TABLE_PX),
        row_height=ROW_PX,
        key=key,
        on_select=lambda: _choose_row(key, table),
        selection_mode="single-row",
        selection_default={"selection": {"rows": at[:1]}},
        placeholder="–",
        alt="All candidates of this model against the baseline",
    )


def _choose_row(key: str, table: Table) -> None:
    """A click that chooses no candidate (on the original, or on the ticked row) leaves the tick where it was."""
    ids = [each for each in table.ids_at(st.session_state[key].selection.rows) if each != NO_CANDIDATE]
    if ids:
        state.CANDIDATE.set(ids[0])
    else:
        state.NO_CANDIDATE_CHOSEN.set(state.NO_CANDIDATE_CHOSEN.get() + 1)


def _notes(shown: Shown, entries: Sequence[Entry], baseline: CandidateRow | None, *, only: bool) -> None:
    if only and shown.same:
        st.caption(plain("The same in all: " + "; ".join(f"{name} {text}" for name, text in shown.same.items())))
    apart = [entry for entry in entries if entry.differs]
    if apart:
        like = "as things are on the desk" if baseline is None else "as the baseline was"
        st.warning(
            plain(
                f"Not measured {like}: {_names(apart)}. Such figures cannot be held against the others; these stand "
                "last, with what was different."
            ),
            icon=":material/warning:",
        )
    if any(entry.speed.word == "derived" for entry in entries):
        st.caption(
            "≈ derived: both were measured against the original, not against each other. Choose such a candidate and "
            "measure it against the baseline to get an interval."
        )


def _names(entries: Sequence[Entry]) -> str:
    names = [f"'{entry.name}'" for entry in entries[:3]]
    more = len(entries) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _layers(entries: Sequence[Entry], baseline: CandidateRow | None, views: Sequence[LayerView], *, only: bool) -> None:
    """What runs in each; the original, which is in fp32 throughout, is left out beside several others."""
    several = [entry for entry in entries if entry.id is not None]
    columns = several if len(several) > 1 else list(entries)
    table = layer_precision_table(columns, views, layer_choice.theme(), only_differences=only)
    if not table.ids:
        st.caption("Every layer runs in the same precision in all of them.")
        return
    told = (
        f"Layers that do not run alike in all of them: {len(table.ids)} of {len(views)}"
        if only
        else quantities.counted(len(views), "layer")
    )
    st.caption(f"{told}; the original is in fp32 throughout.")
    layer_choice.table(table, key=f"compare.layers.{hash(table.ids)}", height=_TABLE_PX, alt="Precision of each layer")


def against_baseline(on: Subject, current: CandidateRow, baseline: CandidateRow | None) -> None:
    """Where a candidate is pinned: the shown one beside it, and what was measured between them, or a button for it.

    Last comes what everything below is held against, also where the pinned candidate itself is shown.
    """
    if baseline is None:
        return
    if baseline.id != current.id:
        _pair(on, current, baseline)
    st.markdown(f"**{plain(current.name or current.id)}** against the original")


def _pair(on: Subject, current: CandidateRow, baseline: CandidateRow) -> None:
    measured = services.pairs(on, baseline, [current]).get(current.id)
    first, second = baseline.name or baseline.id, current.name or current.id
    with st.container(border=True, gap="small"):
        st.markdown(f"**{plain(second)}** against the baseline **{plain(first)}**")
        apart = differences(facts_of(baseline.report), facts_of(current.report))
        if apart and measured is None:
            told = f"The two were measured under different conditions: {', '.join(apart)}. Read each column on its own."
            st.warning(plain(told), icon=":material/warning:")
        _side_by_side(baseline, current)
        if measured is not None:
            _measured(measured)
        else:
            _offer(on, baseline, current)


def _side_by_side(first: CandidateRow, second: CandidateRow) -> None:
    """The tiles of both, each against the original, metric by metric."""
    rows = []
    for ours, theirs in zip(comparison_view.tiles(second.report), comparison_view.tiles(first.report), strict=True):
        if ours.after != quantities.NOT_KNOWN or theirs.after != quantities.NOT_KNOWN:
            rows.append({"Metric": ours.label, "Baseline": _cell(theirs), "Shown": _cell(ours)})
    st.dataframe(
        rows,
        hide_index=True,
        height="content",
        row_height=ROW_PX,
        column_config={
            "Baseline": st.column_config.TextColumn(first.name or first.id, help="Against the original"),
            "Shown": st.column_config.TextColumn(second.name or second.id, help="Against the original"),
        },
        key="compare.side",
        alt="Both candidates, each against the original",
    )


def _cell(tile: comparison_view.Tile) -> str:
    return " · ".join(part for part in (tile.figure, comparison.ratio_text(tile)) if part)


def _measured(document: Mapping[str, Any]) -> None:
    tile = comparison_view.latency(document)
    gain = f"{comparison.ratio_text(tile)} {comparison.verdict_badge(tile)}"
    st.markdown(f"Measured in pairs: {gain} {plain(str(document.get('why') or ''))}")
    st.caption(plain(conditions.sentence(document.get("conditions"))))


def _offer(on: Subject, first: CandidateRow, second: CandidateRow) -> None:
    job = services.compare_job(on, first, second)
    if job is not None and not job.is_final:
        jobs.card(job.id, key="compare.pair.job")
        return
    st.caption("Both columns are against the original. Only a measurement in pairs tells which of the two is faster.")
    if st.button("Measure against the baseline", icon=":material/timer:", key="compare.pair"):
        services.submit_compare(on, first, second)
        st.rerun()
