"""What lies behind a comparison: requested against executed, all ratios with intervals, and what a search saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.report import quantities
from core.report.asked import as_asked, asked_and_got, reason
from dashboard.figures.front import front
from dashboard.figures.intervals import RatioRow, ratio_bars
from dashboard.figures.sensitivity import MOST_GROUPS, sensitivity_bars
from dashboard.file_names import slug
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.tables import outcome_table
from dashboard.widgets import bundle, layer_choice
from dashboard.widgets.text import plain

_TABLE_PX = 400
_CHOOSE = "Click a row to read here why that layer has its precision."
_RATIOS = {"latency": "Latency", "p95": "Latency, p95", "throughput": "Throughput", "size": "Size", "memory": "Memory"}


def draw(document: Document, before: Sequence[LayerView]) -> None:
    """The tabs under the maps; only the open one is drawn."""
    labels = ["Asked and got", "Ratios", *(["Search"] if document.get("front") else [])]
    asked, ratios, *search = st.tabs(labels, key="compare.tabs", on_change="rerun")
    if asked.open:
        with asked:
            _outcomes(document, before)
    if ratios.open:
        with ratios:
            _ratios(document)
    if search and search[0].open:
        with search[0]:
            _search(document)


def _outcomes(document: Document, before: Sequence[LayerView]) -> None:
    rows = document.get("layers") or ()
    missed = [row for row in rows if not as_asked(row)]
    st.caption(plain(" ".join([asked_and_got(rows), *map(str, document.get("notes") or ())])))
    only = st.toggle(
        "Only layers that do not run as asked", value=bool(missed), key="compare.missed", disabled=not missed
    )
    shown = outcome_table(missed if only and missed else rows, {view.id: view for view in before}, layer_choice.theme())
    layer_choice.table(shown, key=f"compare.rows.{only}", height=_TABLE_PX, alt="Requested, produced and executed")
    chosen = layer_choice.chosen({row["id"] for row in rows})
    st.caption(plain(next((f"{row['id']}: {reason(row)}" for row in rows if row["id"] == chosen), _CHOOSE)))
    bundle.download_layers(document, key="compare.csv", stem=slug(document.get("name") or "candidate", "layers"))


def _ratios(document: Document) -> None:
    rows = ratio_rows((document.get("comparison") or document).get("ratio") or {})
    if not rows:
        st.caption("Nothing was measured.")
        return
    layer_choice.still_chart(ratio_bars(rows, layer_choice.theme()), key="compare.ratios", alt="Ratios with intervals")


def ratio_rows(ratios: Mapping[str, Any]) -> list[RatioRow]:
    """The `ratio` object of a comparison as rows; what was not measured is left out."""
    rows = []
    for name, label in _RATIOS.items():
        found = ratios.get(name)
        value = found.get("value") if isinstance(found, Mapping) else found
        interval = found.get("ci95") if isinstance(found, Mapping) else None
        if value is not None and value > 0:
            rows.append(RatioRow(label, float(value), None if interval is None else (interval[0], interval[1])))
    return rows


def _search(document: Document) -> None:
    theme = layer_choice.theme()
    points, scores = document.get("front") or (), document.get("sensitivity") or ()
    left, right = st.columns(2, gap="medium")
    with left:
        untimed = sum(1 for point in points if point.get("latency_ms") is None)
        told = f"Mixes evaluated: {quantities.count(document.get('evaluations'))}; {document.get('why') or ''}"
        st.caption(plain(told + (f" Judged but not timed: {untimed}." if untimed else "")))
        figure = front(points, theme, chosen_bytes=None if document.get("unchanged") else document.get("bytes"))
        layer_choice.still_chart(figure, key="compare.front", alt="Mixes by latency and fidelity")
    with right:
        few = len(scores) <= MOST_GROUPS
        st.caption(f"{'Each' if few else f'The {MOST_GROUPS} most sensitive'} of {len(scores)} groups lowered alone")
        layer_choice.still_chart(
            sensitivity_bars(scores, theme), key="compare.solo", alt="Sensitivity of single groups"
        )
