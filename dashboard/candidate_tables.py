"""Tables of candidates: one row each with the columns in which they differ; and layer by layer what runs in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from core.report import quantities
from dashboard.candidates_view import Entry, Figure, layers_that_differ
from dashboard.figures.labels import shorten
from dashboard.figures.theme import FigureTheme
from dashboard.layer_views import LayerView
from dashboard.tables import NAME_LENGTH, Table, precision_column

#: The row of the original stands for no candidate.
NO_CANDIDATE = ""
_HEADER_LENGTH = 20
_FULL_NAME = "Full name"
#: Figures against the baseline: its own row has none.
_CHANGES = frozenset({"Accuracy change", "SQNR change", "Agreement change", "Smaller file", "Less memory"})
#: What only a candidate has: the original has none where it is the baseline.
_OF_CANDIDATES = frozenset({"SQNR (dB)", "Agreement (%)", "Target", "Latency, original → this", "Built"})
#: Never left out where they say anything.
_ALWAYS = ("Candidate", "Speed-up (x)", "Against the baseline", "Other conditions", _FULL_NAME)


@dataclass(frozen=True)
class Shown:
    """A table, and the columns that were left out because they say the same in every row: header -> what they say."""

    table: Table
    same: Mapping[str, str]


def candidate_table(entries: Sequence[Entry], *, only_differences: bool) -> Shown:
    """All candidates against the baseline, which is the first row."""
    said = {name: values for name, values in _columns(entries).items() if any(map(_is_known, values))}
    same: dict[str, str] = {}
    if only_differences and len(entries) > 1:
        texts = {name: _text_of(name, values, entries) for name, values in said.items() if name not in _ALWAYS}
        same = {name: text for name, text in texts.items() if text is not None}
    kept = {name: values for name, values in said.items() if name not in same}
    config = {name: made for name, made in _config(entries).items() if name in kept}
    ids = tuple(entry.id or NO_CANDIDATE for entry in entries)
    return Shown(Table(pd.DataFrame(kept), config, ids), same)


def layer_precision_table(
    entries: Sequence[Entry], views: Sequence[LayerView], theme: FigureTheme, *, only_differences: bool
) -> Table:
    """Layers in graph order, and what the runtime runs for each of them in every candidate."""
    differing = set(layers_that_differ(entries))
    rows = [view for view in views if not only_differences or view.id in differing]
    headers = _headers(entries)
    columns: dict[str, Any] = {
        "Layer": [shorten(view.id, NAME_LENGTH) for view in rows],
        "Op": [view.op for view in rows],
    }
    for header, entry in zip(headers, entries, strict=True):
        columns[header] = [[entry.executed[view.id]] if view.id in entry.executed else [] for view in rows]
    known = sorted({precision for entry in entries for precision in entry.executed.values()})
    config: dict[str, Any] = {
        "Layer": st.column_config.TextColumn("Layer", width=270, pinned=True),
        "Op": st.column_config.TextColumn("Op", width=100),
    }
    for header, entry in zip(headers, entries, strict=True):
        config[header] = precision_column(header, f"{entry.name}: what the runtime really runs", known, theme)
    return Table(pd.DataFrame(columns), config, tuple(view.id for view in rows))


def _headers(entries: Sequence[Entry]) -> list[str]:
    """A short and unique header for each candidate."""
    headers: list[str] = []
    for number, entry in enumerate(entries, 1):
        name = shorten(entry.name, _HEADER_LENGTH)
        headers.append(name if name not in headers and name not in {"Layer", "Op"} else f"{number} {name}")
    return headers


def _columns(entries: Sequence[Entry]) -> dict[str, list[Any]]:
    return {
        "Candidate": [_called(entry) for entry in entries],
        "Speed-up (x)": [entry.speed.value for entry in entries],
        "Against the baseline": [entry.speed.told for entry in entries],
        "Other conditions": [", ".join(entry.differs) for entry in entries],
        "Accuracy (%)": [_percent(entry.accuracy) for entry in entries],
        "Accuracy change": [entry.accuracy.told for entry in entries],
        "SQNR (dB)": [entry.sqnr.value for entry in entries],
        "SQNR change": [entry.sqnr.told for entry in entries],
        "Agreement (%)": [_percent(entry.agreement) for entry in entries],
        "Agreement change": [entry.agreement.told for entry in entries],
        "Size (MB)": [_mega(entry.size) for entry in entries],
        "Smaller file": [entry.size.told for entry in entries],
        "Memory (MB)": [_mega(entry.memory) for entry in entries],
        "Less memory": [entry.memory.told for entry in entries],
        "Layers": [entry.lowered for entry in entries],
        "Target": [entry.target for entry in entries],
        "Latency, original → this": [entry.latency for entry in entries],
        "Built": [entry.built for entry in entries],
        _FULL_NAME: [entry.name if len(entry.name) > NAME_LENGTH else "" for entry in entries],
    }


def _called(entry: Entry) -> str:
    name = shorten(entry.name, NAME_LENGTH)
    return f"{name} (baseline)" if entry.is_baseline else name


def _config(entries: Sequence[Entry]) -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    longest = max((len(_called(entry)) for entry in entries), default=0)
    three = "%.3g"
    return {
        "Candidate": text("Candidate", width=max(160, 30 + round(6.3 * longest)), pinned=True),
        "Speed-up (x)": number("Speed-up (x)", format=three, width=100, help="Above 1 is faster than the baseline"),
        "Against the baseline": text(
            "Against the baseline",
            width=190,
            help="95 % interval and verdict; derived: the quotient of two speed-ups, not measured in pairs",
        ),
        "Other conditions": text("Other conditions", width=150, help="Not to be held against the others"),
        "Latency, original → this": text("Latency, original → this", width=170, help="Measured in pairs"),
        "Size (MB)": number("Size (MB)", format=three, width=85),
        "Smaller file": text("Smaller file", width=150, help="Times smaller than the baseline"),
        "Memory (MB)": number("Memory (MB)", format=three, width=105),
        "Less memory": text("Less memory", width=185, help="Peak of the process, times smaller than the baseline"),
        "Accuracy (%)": number("Accuracy (%)", format=three, width=105),
        "Accuracy change": text("Accuracy change", width=310),
        "SQNR (dB)": number("SQNR (dB)", format=three, width=95, help="Against the original; the worst output counts"),
        "SQNR change": text("SQNR change", width=150),
        "Agreement (%)": number("Agreement (%)", format=three, width=115, help="Same top answer as the original"),
        "Agreement change": text("Agreement change", width=170),
        "Layers": text("Layers", width=200),
        "Target": text("Target", width=190),
        "Built": text("Built", width=165),
        _FULL_NAME: text(_FULL_NAME, width="medium"),
    }


def _mega(figure: Figure) -> float | None:
    return None if figure.value is None else figure.value / 1e6


def _percent(figure: Figure) -> float | None:
    return None if figure.value is None else 100 * figure.value


def _is_known(value: Any) -> bool:
    return value is not None and value != ""


def _text_of(name: str, values: Sequence[Any], entries: Sequence[Entry]) -> str | None:
    """What a column says where it is the same in every row; None where rows differ or one of them is silent.

    Only the baseline may be silent, in a column that has nothing to say of it.
    """
    told = set()
    for value, entry in zip(values, entries, strict=True):
        if _is_known(value):
            told.add(quantities.three(value) if isinstance(value, int | float) else str(value))
        elif not _has_none(name, entry):
            return None
    return told.pop() if len(told) == 1 else None


def _has_none(name: str, entry: Entry) -> bool:
    """Whether a column can have nothing to say of a row: a change against itself, a candidate's figure of the original.

    A row that is held against the baseline is not excused: an empty cell there is not the figure of the others.
    """
    return entry.is_baseline and (name in _CHANGES or (name in _OF_CANDIDATES and entry.id is None))
