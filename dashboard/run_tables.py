"""The table of runs: one dense line each, newest first; what it shows is read off, never worked out here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.report import quantities
from core.store.disk_use import DiskUse, ModelUse
from core.store.rows import JobState
from dashboard.figures.labels import shorten
from dashboard.run_rows import BUILT, RunRow
from dashboard.tables import Table, fitting

#: Rows of these tables are lower than others: they are read by the dozen.
ROW_PX = 28
_HEADER_PX = 32
#: What a table that is wider than its place scrolls with; it would lie over the last row.
SCROLL_BAR_PX = 10
_NAME_LENGTH = 38
_TITLE_LENGTH = 38
_MODEL_LENGTH = 18
_NOTE_LENGTH = 160
_MARKS = {
    JobState.QUEUED: "○",
    JobState.RUNNING: "▸",
    JobState.DONE: "●",
    JobState.FAILED: "✕",
    JobState.STOPPED: "■",
    JobState.CRASHED: "✕",
    JobState.INTERRUPTED: "◌",
    BUILT: "●",
}
_OBSTACLE = "△"


def run_table(rows: Sequence[RunRow]) -> Table:
    """All lines as they come."""
    frame = pd.DataFrame(
        {
            "State": [state_text(row) for row in rows],
            "Title": [shorten(row.title, _TITLE_LENGTH) for row in rows],
            "Model": [shorten(row.model, _MODEL_LENGTH) for row in rows],
            "When": pd.to_datetime([row.when for row in rows], utc=True),
            "What came of it": [shorten(came_of(row), _NOTE_LENGTH) for row in rows],
            "Speed-up (x)": _floats([row.outcome.ratio for row in rows]),
            "95 % interval": [quantities.ratio_range(row.outcome.ci95) if row.outcome.ci95 else "" for row in rows],
            "SQNR (dB)": _floats([row.outcome.sqnr_db for row in rows]),
            "Accuracy (points)": _floats([_in_points(row.outcome.accuracy_change) for row in rows]),
            "Took": ["" if row.seconds is None else duration(row.seconds) for row in rows],
            "Kind": [row.kind for row in rows],
            "Data": [shorten(row.data, _MODEL_LENGTH) for row in rows],
        }
    )
    fitted = {name: fitting(name, frame[name]) for name in ("State", "Title", "Model", "Kind", "Data")}
    return Table(frame, {**_CONFIG, **fitted}, tuple(row.id for row in rows))


def came_of(row: RunRow) -> str:
    """The verdict and the rest in one text: "unchanged: no mix was faster"."""
    return ": ".join(word for word in (row.outcome.verdict, row.outcome.note) if word)


def table_height(rows: int, most: int) -> int:
    """Pixels for that many low rows, the header and a bar to scroll sideways, at most `most`."""
    return min(most, _HEADER_PX + ROW_PX * max(rows, 1) + 2 + SCROLL_BAR_PX)


def state_text(row: RunRow) -> str:
    """The state as a mark and a word; of a running job also how far it is: "▸ running 43 %".

    A job that is done, but found what cannot be used, says that: "△ cannot run".
    """
    if row.outcome.obstacle:
        return f"{_OBSTACLE} {row.outcome.obstacle}"
    mark = _MARKS[JobState(row.state) if row.state != BUILT else BUILT]
    far = ""
    if row.job is not None and row.job.state is JobState.RUNNING and row.job.fraction is not None:
        far = f" {row.job.fraction * 100:.0f} %"
    return f"{mark} {row.state}{far}"


def duration(seconds: float) -> str:
    """How long something took: "0.4 s", "12 s", "3:05 min", "1:02:09 h"."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes == 0:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"


def disk_table(use: DiskUse) -> Table:
    """Room per model, the largest first, then what belongs to none: the rows sum to the whole."""
    rows = [_disk_row(row, with_cache=use.database_bytes > 0) for row in use.models]
    rows.sort(key=lambda row: -row["In all"])
    other = {"Files": use.other_files_bytes, "Database": use.other_database_bytes, "Logs": use.other_logs_bytes}
    rows.append({"Model": OTHER, **other, "In all": sum(other.values())})
    if use.shared_bytes:
        rows.append({"Model": SHARED, "Files": -use.shared_bytes, "In all": -use.shared_bytes})
    frame = pd.DataFrame(rows, columns=["Model", *_DISK_COLUMNS])
    config = {name: st.column_config.NumberColumn(name, help=told or None) for name, told in _DISK_COLUMNS.items()}
    config["Model"] = fitting("Model", frame["Model"])
    ids = [row.get("id", "") for row in rows]
    written = dict.fromkeys(_DISK_COLUMNS, quantities.size)
    return Table(frame.astype(dict.fromkeys(_DISK_COLUMNS, "Int64")), config, tuple(ids), written)


OTHER, SHARED = "Other", "Counted twice: the same file in several places"
_DISK_COLUMNS = {
    "Files": "The model; of Other: bundles, uploads, and what data was made of",
    "Data": "",
    "Candidates": "",
    "Database": "Measurements kept under the content they depend on; of Other: everything else in the database",
    "Logs": "",
    "In all": "",
    "Freed by deleting": "Less than the sum where others use the same files, more where its archives stand under Other",
}


def _disk_row(row: ModelUse, *, with_cache: bool) -> dict[str, Any]:
    cached = row.cache_bytes if with_cache else 0
    return {
        "id": row.sha256,
        "Model": shorten(row.name, _NAME_LENGTH),
        "Files": row.model_bytes,
        "Data": row.data_bytes,
        "Candidates": row.candidates_bytes,
        "Database": cached,
        "Logs": row.logs_bytes,
        "In all": row.total_bytes - row.cache_bytes + cached,
        "Freed by deleting": row.freed_bytes,
    }


def _number(label: str, help_text: str, width: int, pattern: str = "%.3g") -> Any:
    return st.column_config.NumberColumn(label, help=help_text, format=pattern, width=width)


_CONFIG: dict[str, Any] = {
    "When": st.column_config.DatetimeColumn("When", format="D MMM HH:mm", width=96, help="In your time zone"),
    "Took": st.column_config.TextColumn("Took", width=76, alignment="right"),
    "What came of it": st.column_config.TextColumn("What came of it", width=300, help="A click on the row tells all"),
    "Speed-up (x)": _number("Speed-up (x)", "Time of the original over time of the result; above 1 is faster", 92),
    "95 % interval": st.column_config.TextColumn("95 % interval", width=104),
    "SQNR (dB)": _number("SQNR (dB)", "Fidelity of the outputs on holdout samples; 200 means identical", 82),
    "Accuracy (points)": _number(
        "Accuracy (points)", "Change against the original, in percentage points", 116, "%+.3g"
    ),
}


def _in_points(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _floats(values: Sequence[float | None]) -> pd.Series[float]:
    return pd.Series(list(values), dtype="float64")
