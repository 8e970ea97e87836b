"""Where a job comes from and what came of it: the jobs it goes on with, those that went on with it, what it built."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from core.errors import NotFoundError
from core.jobs.queue import job, to_row
from core.store.rows import JobRow
from core.store.tables import CANDIDATES, JOBS
from core.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Built:
    """A candidate in short."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Lineage:
    """`before`: the jobs that this one goes on with, the last one first; `after`: those that went on with it."""

    before: tuple[JobRow, ...]
    after: tuple[JobRow, ...]
    built: tuple[Built, ...]


def lineage(workspace: Workspace, row: JobRow) -> Lineage:
    """What is known of a job's family; a job that was forgotten ends the line."""
    built = select(CANDIDATES.c.id, CANDIDATES.c.name).where(CANDIDATES.c.job_id == row.id)
    after = select(JOBS).where(JOBS.c.resumes == row.id).order_by(JOBS.c.created_at)
    with workspace.database.reading() as connection:
        made = tuple(Built(found.id, found.name) for found in connection.execute(built))
        later = tuple(to_row(found) for found in connection.execute(after).mappings())
    return Lineage(before=_before(workspace, row), after=later, built=made)


def _before(workspace: Workspace, row: JobRow) -> tuple[JobRow, ...]:
    found: list[JobRow] = []
    while row.resumes is not None:
        try:
            row = job(workspace, row.resumes)
        except NotFoundError:
            break
        found.append(row)
    return tuple(found)
