"""Jobs that a test wants done: what a worker would do with them, in this process."""

from __future__ import annotations

from sqlalchemy import update

from core.errors import MixdeskError
from core.jobs.outcome import fail, finish
from core.jobs.queue import jobs
from core.progress import Silent
from core.store.rows import JobRow, JobState
from core.store.tables import JOBS
from core.store.workspace import Workspace
from core.tasks.registry import run_task


def work(desk: Workspace) -> None:
    """Does what a worker would do with the queued jobs."""
    for row in reversed(jobs(desk, states=(JobState.QUEUED,))):
        begin(desk, row)
        try:
            finish(desk, row.id, run_task(desk, row.kind, row.params, Silent()))
        except MixdeskError as error:
            fail(desk, row.id, error.to_dict())


def begin(desk: Workspace, row: JobRow) -> None:
    """Marks a queued job as running."""
    with desk.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == row.id).values(state=JobState.RUNNING))
