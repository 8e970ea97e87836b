"""Forgetting jobs that have ended: rows, partial results and logs; on request also what they built."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from core.errors import RequestError
from core.jobs.queue import job
from core.store.clean import remove_candidate, remove_jobs, sweep_files
from core.store.rows import FINAL_STATES
from core.store.tables import CANDIDATES, JOBS
from core.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Cleaned:
    """How many jobs and candidates are gone, the bytes that this freed, and why others of the jobs had to stay."""

    jobs: int
    candidates: int
    freed_bytes: int
    kept: tuple[str, ...] = ()


def remove(workspace: Workspace, job_id: str, *, candidates: bool = False) -> int:
    """Deletes a job with its partial results and log; with `candidates`, what it built too. Returns the bytes freed.

    Files that only this job named go with it.

    Raises:
        NotFoundError: no such job.
        RequestError: the job has not ended, or another one needs what it built.
    """
    row = job(workspace, job_id)
    if not row.is_final:
        raise RequestError(f"The job '{row.title}' is still {row.state}.", hint="Stop it first.")
    built = _built_by(workspace, row.id) if candidates else []
    freed = sum(remove_candidate(workspace, candidate) for candidate in built)
    return freed + remove_jobs(workspace, [row.id]) + sweep_files(workspace)


def clean(
    workspace: Workspace,
    *,
    before: datetime | None = None,
    states: Collection[str] = FINAL_STATES,
    candidates: bool = False,
) -> Cleaned:
    """Deletes the jobs that have ended (before a moment, in one of these states), their partial results and logs.

    Candidates stay unless asked for, models and data stay; stored files that nothing refers to any more go. A job whose
    candidate another job still needs stays, with the reason.
    """
    ended = select(JOBS.c.id).where(JOBS.c.state.in_([str(s) for s in states if s in FINAL_STATES]))
    if before is not None:
        ended = ended.where(JOBS.c.finished_at < before)
    with workspace.database.reading() as connection:
        ids = connection.execute(ended).scalars().all()
    freed, removed, kept, gone = 0, 0, [], []
    for job_id in ids:
        built = _built_by(workspace, job_id) if candidates else []
        try:
            freed += sum(remove_candidate(workspace, candidate) for candidate in built)
        except RequestError as refused:
            kept.append(refused.message)
            continue
        removed += len(built)
        gone.append(job_id)
    freed += remove_jobs(workspace, gone, settled=False) + sweep_files(workspace)
    return Cleaned(len(gone), removed, freed, tuple(kept))


def _built_by(workspace: Workspace, job_id: str) -> list[str]:
    with workspace.database.reading() as connection:
        return list(connection.execute(select(CANDIDATES.c.id).where(CANDIDATES.c.job_id == job_id)).scalars())
