"""Jobs described: the `job` object of the `jobs` documents, of a row of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.jobs.lineage import Lineage
    from core.store.rows import JobRow, Partial

_TAIL_BYTES = 65_536
_TAIL_LINES = 20


def describe(row: JobRow) -> dict[str, Any]:
    """A job without what it was told and what it found, which may be large."""
    return {
        "id": row.id,
        "kind": row.kind,
        "title": row.title,
        "state": row.state,
        "model": None if row.model_sha256 is None else {"sha256": row.model_sha256, "name": _model_name(row)},
        "fraction": row.fraction,
        "phase": row.phase,
        "what": row.what,
        "eta_s": row.eta_s,
        "created_at": _when(row.created_at),
        "started_at": _when(row.started_at),
        "finished_at": _when(row.finished_at),
        "seconds": None if row.duration_s is None else round(row.duration_s, 3),
        "resumes": row.resumes,
        "error": row.error,
        "log": row.log,
    }


def describe_whole(row: JobRow, family: Lineage, logs: Path, published: Sequence[Partial] = ()) -> dict[str, Any]:
    """A job with all that is known of it; `logs` is the folder of its log, `published` what it told while it ran."""
    return {
        **describe(row),
        "params": dict(row.params),
        "result": row.result,
        "units": (row.result or {}).get("units") or _last_units(published),
        "lineage": {
            "before": [_short(before) for before in family.before],
            "after": [_short(after) for after in family.after],
            "candidates": [{"id": made.id, "name": made.name} for made in family.built],
        },
        "log_tail": tail(logs / row.log) if row.log else "",
    }


def tail(log: Path, *, lines: int = _TAIL_LINES) -> str:
    """The last lines of a log; empty where there is none."""
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
        text = file.read().decode("utf-8", errors="replace")
    return "\n".join(text.splitlines()[-lines:])


def _last_units(published: Sequence[Partial]) -> Mapping[str, Any] | None:
    """Where a job has no result: what it had finished when it last said so; that is kept, however it ended."""
    return next((each.value for each in reversed(published) if each.kind == "units"), None)


def _short(row: JobRow) -> Mapping[str, Any]:
    return {"id": row.id, "state": row.state}


def _model_name(row: JobRow) -> str | None:
    name = row.params.get("model_name")
    return None if name is None else str(name)


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
