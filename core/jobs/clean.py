"""Forgetting jobs that have ended: rows, partial results and logs; on request also what they built."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select

from core.errors import RequestError
from core.jobs.queue import job
from core.store.clean import remove_candidate, remove_log, sweep_files
from core.store.rows import FINAL_STATES
from core.store.tables import CANDIDATES, JOBS
from core.store.workspace import Workspace


def remove(workspace: Workspace, job_id: str, *, candidates: bool = False) -> int:
    """Deletes a job with its partial results and log; with `candidates`, what it built too. Returns the bytes freed.

    Files that only this job referred to go with it, unless they were stored within the last hour.

    Raises:
        NotFoundError: no such job.
        RequestError: the job has not ended.
    """
    row = job(workspace, job_id)
    if not row.is_final:
        raise RequestError(f"The job '{row.title}' is still {row.state}.", hint="Stop it first.")
    freed = 0
    if candidates:
        freed += sum(remove_candidate(workspace, built) for built in _built_by(workspace, row.id))
    freed += _forget(workspace, row.id, row.log)
    return freed + sweep_files(workspace)


def clean(workspace: Workspace, *, before: datetime | None = None) -> int:
    """Deletes all jobs that have ended (before a moment), their partial results and logs; returns how many.

    Candidates, models and data stay; stored files that nothing refers to any more go.
    """
    ended = select(JOBS.c.id, JOBS.c.log).where(JOBS.c.state.in_(FINAL_STATES))
    if before is not None:
        ended = ended.where(JOBS.c.finished_at < before)
    with workspace.database.reading() as connection:
        rows = connection.execute(ended).all()
    for row in rows:
        _forget(workspace, row.id, row.log)
    sweep_files(workspace)
    return len(rows)


def _forget(workspace: Workspace, job_id: str, log: str) -> int:
    with workspace.database.writing() as connection:
        connection.execute(delete(JOBS).where(JOBS.c.id == job_id))
    return remove_log(workspace, log)


def _built_by(workspace: Workspace, job_id: str) -> list[str]:
    with workspace.database.reading() as connection:
        return list(connection.execute(select(CANDIDATES.c.id).where(CANDIDATES.c.job_id == job_id)).scalars())
