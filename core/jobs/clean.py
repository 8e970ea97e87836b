"""Forgetting jobs that have ended: rows, partial results and logs; on request also what they built."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from core.errors import RequestError
from core.jobs.queue import job
from core.store.clean import remove_candidate, remove_log, sweep_files
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

    Files that only this job referred to go with it, unless they were stored within the last hour.

    Raises:
        NotFoundError: no such job.
        RequestError: the job has not ended, or another one needs what it built.
    """
    row = job(workspace, job_id)
    if not row.is_final:
        raise RequestError(f"The job '{row.title}' is still {row.state}.", hint="Stop it first.")
    built = _built_by(workspace, row.id) if candidates else []
    freed = sum(remove_candidate(workspace, candidate) for candidate in built)
    return freed + _forget(workspace, row.id, row.log) + sweep_files(workspace)


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
    ended = select(JOBS.c.id, JOBS.c.log).where(JOBS.c.state.in_([str(s) for s in states if s in FINAL_STATES]))
    if before is not None:
        ended = ended.where(JOBS.c.finished_at < before)
    with workspace.database.reading() as connection:
        rows = connection.execute(ended).all()
    freed, removed, kept = 0, 0, []
    for row in rows:
        built = _built_by(workspace, row.id) if candidates else []
        try:
            freed += sum(remove_candidate(workspace, candidate) for candidate in built)
        except RequestError as refused:
            kept.append(refused.message)
            continue
        removed += len(built)
        freed += _forget(workspace, row.id, row.log)
    return Cleaned(len(rows) - len(kept), removed, freed + sweep_files(workspace), tuple(kept))


def _forget(workspace: Workspace, job_id: str, log: str) -> int:
    with workspace.database.writing() as connection:
        connection.execute(delete(JOBS).where(JOBS.c.id == job_id))
    return remove_log(workspace, log)


def _built_by(workspace: Workspace, job_id: str) -> list[str]:
    with workspace.database.reading() as connection:
        return list(connection.execute(select(CANDIDATES.c.id).where(CANDIDATES.c.job_id == job_id)).scalars())
