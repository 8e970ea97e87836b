"""Profiles: the other finished ones of the model on the desk, and what is known of one that did not finish."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.errors import NotFoundError
from core.jobs import queue
from core.report import quantities
from core.store.rows import CandidateRow, JobRow, JobState
from dashboard import conditions
from dashboard.services import work
from dashboard.services.documents import Document, result_of
from dashboard.services.library import candidate, candidates
from dashboard.services.server import workspace
from dashboard.services.subjects import Subject

_MOST = 200
_KIND = "profile"


@dataclass(frozen=True, slots=True)
class OtherRun:
    """A finished profile: of the model itself, or of what was built from it. `id` stands in the link."""

    id: str
    label: str
    of_candidate: bool


def other_profiles(on: Subject) -> tuple[OtherRun, ...]:
    """Finished profiles of this model but the one on the page, then those of its candidates; each newest first."""
    done = work.jobs(on, kind=_KIND, states=(JobState.DONE,), limit=_MOST)
    shown = next((row.id for row in done if work.concerns(row, on)), None)
    own = [OtherRun(row.id, _label(row), False) for row in done if row.id != shown]
    built = [OtherRun(row.id, _name(row), True) for row in candidates(on) if (row.report or {}).get("profile")]
    return (*own, *built)


def other_profile(on: Subject, run_id: str) -> Document | None:
    """The document of such a run, with its conditions and data; None where there is none. Shared: do not change it."""
    row = work.find_job(run_id)
    if row is not None:
        fits = row.kind == _KIND and row.model_sha256 == on.model.sha256 and row.state is JobState.DONE
        return result_of(row.id) if fits else None
    return _of_candidate(str(workspace().path), on.model.sha256, run_id)


def unfinished_profile(on: Subject) -> tuple[JobRow, Document] | None:
    """The newest profile job if it is not done, and what it has found so far; None where that is nothing."""
    row = work.job_of(on, _KIND, active=False)
    if row is None or row.state is JobState.DONE:
        return None
    known: dict[str, Any] = {}
    for piece in queue.partials(workspace(), row.id):
        if piece.kind == _KIND:
            known |= piece.value
    return (row, known) if known else None


@lru_cache(maxsize=16)
def _of_candidate(workspace_path: str, model_sha256: str, candidate_id: str) -> Document | None:
    """A candidate's report never changes; the same object each time, so that what is made of it can be kept."""
    del workspace_path
    try:
        row = candidate(candidate_id)
    except NotFoundError:
        return None
    report: Mapping[str, Any] = row.report or {}
    if row.model_sha256 != model_sha256 or not report.get("profile"):
        return None
    measured = (report.get("comparison") or {}).get("conditions") or report.get("conditions")
    shared = {"conditions": measured, "data": report.get("data"), "mixdesk": report.get("mixdesk")}
    return {**report["profile"], **shared}


def _label(row: JobRow) -> str:
    params = row.params
    threads, batch = int(params.get("threads") or 1), int(params.get("batch") or 1)
    data = str(params.get("data_name") or "data") if params.get("data") else "synthetic inputs"
    shapes = ", ".join(f"{name} {quantities.shape(dims)}" for name, dims in (params.get("shapes") or {}).items())
    at = (row.finished_at or row.created_at).isoformat()
    told = [quantities.counted(threads, "thread"), f"batch {batch}", data, shapes, conditions.moment(at, year=False)]
    return " · ".join(filter(None, told))


def _name(row: CandidateRow) -> str:
    return f"candidate {row.name or row.id} · {conditions.moment(row.created_at.isoformat(), year=False)}"
