"""Baselines: what the candidates of a model are held against, and measurements of one candidate against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.jobs import queue
from core.store.rows import CandidateRow, JobRow, JobState
from dashboard import state
from dashboard.candidates_view import facts_of
from dashboard.services import work
from dashboard.services.documents import result_of
from dashboard.services.server import conditions, workspace
from dashboard.services.subjects import Subject


def baseline(on: Subject, known: Sequence[CandidateRow]) -> CandidateRow | None:
    """The pinned candidate: the one that the link names, else the one kept with the model; None is the original."""
    wanted = state.BASELINE.get() or workspace().baseline(on.model.sha256)
    return next((row for row in known if row.id == wanted), None)


def set_baseline(on: Subject, candidate_id: str | None) -> None:
    """Pins a candidate, or (None) the original, for everybody who opens this model."""
    workspace().set_baseline(on.model.sha256, candidate_id)
    state.BASELINE.set(candidate_id)


def facts_here(on: Subject) -> dict[str, Any]:
    """The conditions on the desk, in the words of `facts_of`."""
    here = conditions().to_dict()
    data = {} if on.data is None else {"sha256": on.data.sha256, "name": on.data.name}
    measured = {**here, "threads": on.threads, "batch": on.batch}
    return facts_of({"conditions": measured, "data": data})


def submit_compare(on: Subject, first: CandidateRow, second: CandidateRow) -> str:
    """Queues measuring one candidate against another, in pairs, as things are on the desk."""
    files = {"baseline_file": first.file_sha256, "candidate_file": second.file_sha256}
    names = {"baseline_name": first.name or first.id, "candidate_name": second.name or second.id}
    title = f"Compare {names['baseline_name']} with {names['candidate_name']}"
    return work.submit(on, "compare", title=title, **files, **names)


def compare_job(on: Subject, first: CandidateRow, second: CandidateRow) -> JobRow | None:
    """The newest measurement of these two on what is on the desk, in whatever state."""
    jobs = work.jobs(on, kind="compare", limit=500)
    return next((row for row in jobs if _measures(row, first, second) and work.concerns(row, on)), None)


def pairs(on: Subject, first: CandidateRow | None, known: Sequence[CandidateRow]) -> dict[str, Mapping[str, Any]]:
    """Candidate id -> the newest `compare` document of it against `first`, on what is on the desk."""
    if first is None:
        return {}
    done = queue.jobs(workspace(), model=on.model.sha256, kind="compare", states=(JobState.DONE,), limit=500)
    found: dict[str, Mapping[str, Any]] = {}
    for row in known:
        job = next((job for job in done if _measures(job, first, row) and work.concerns(job, on)), None)
        document = None if job is None else result_of(job.id)
        if document is not None:
            found[row.id] = document
    return found


def _measures(job: JobRow, first: CandidateRow, second: CandidateRow) -> bool:
    files = (job.params.get("baseline_file"), job.params.get("candidate_file"))
    return files == (first.file_sha256, second.file_sha256)
