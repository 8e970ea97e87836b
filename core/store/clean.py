"""Forgetting: models, data and candidates with the files that nobody else refers to; never what a job still needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, select

from core.errors import NotFoundError, RequestError
from core.store.rows import FINAL_STATES, now
from core.store.tables import CACHE, CANDIDATES, DATASETS, JOBS, MODELS
from core.store.workspace import Workspace

YOUNG = timedelta(hours=1)
ROW_ON_ITS_WAY = timedelta(minutes=1)  # between storing a file and writing the row that names it
_SHA256 = re.compile(r"[0-9a-f]{64}")


def remove_candidate(workspace: Workspace, candidate_id: str) -> int:
    """Deletes a candidate and its file, unless something else refers to it; returns the bytes freed.

    Raises:
        NotFoundError: no such candidate.
        RequestError: a job that waits or runs needs it.
    """
    row = workspace.candidate(candidate_id)
    with workspace.database.writing() as connection:
        _refuse_while_needed(connection, {row.id, row.file_sha256}, f"The candidate '{row.name or row.id}'")
        connection.execute(delete(CANDIDATES).where(CANDIDATES.c.id == row.id))
        return _drop(workspace, connection, {row.file_sha256: row.created_at})


def forget_candidate(workspace: Workspace, candidate_id: str) -> None:
    """Deletes the row of a candidate alone: for one whose file another candidate has as well."""
    with workspace.database.writing() as connection:
        connection.execute(delete(CANDIDATES).where(CANDIDATES.c.id == candidate_id))


def remove_dataset(workspace: Workspace, sha256: str, model_sha256: str) -> int:
    """Takes data from a model and deletes its file, unless something else refers to it; returns the bytes freed.

    Raises:
        NotFoundError: the model has no such data.
        RequestError: a job that waits or runs needs it.
    """
    row = next((row for row in workspace.datasets(model_sha256) if row.sha256 == sha256), None)
    if row is None:
        raise NotFoundError(f"The model {model_sha256[:12]} has no data {sha256[:12]}.")
    this = (DATASETS.c.sha256 == row.sha256) & (DATASETS.c.model_sha256 == row.model_sha256)
    with workspace.database.writing() as connection:
        _refuse_while_needed(connection, {row.sha256}, f"The data '{row.name}'")
        connection.execute(delete(DATASETS).where(this))
        return _drop(workspace, connection, {row.sha256: row.created_at})


def remove_model(workspace: Workspace, sha256: str) -> int:
    """Deletes a model with its data, candidates, mixes, ended jobs and cached results; returns the bytes freed.

    Files go with their rows, unless something else refers to them.

    Raises:
        NotFoundError: no such model.
        RequestError: a job that waits or runs needs it or one of its candidates.
    """
    model = workspace.model(sha256)
    built = workspace.candidates(model.sha256)
    files = {model.sha256: model.created_at}
    files |= {row.sha256: row.created_at for row in workspace.datasets(model.sha256)}
    files |= {row.file_sha256: row.created_at for row in reversed(built)}  # of equal files the newest row counts
    needed = {model.sha256, *(row.id for row in built), *(row.file_sha256 for row in built)}
    with workspace.database.writing() as connection:
        _refuse_while_needed(connection, needed, f"The model '{model.name}'")
        logs = connection.execute(select(JOBS.c.log).where(JOBS.c.model_sha256 == model.sha256)).scalars().all()
        connection.execute(delete(MODELS).where(MODELS.c.sha256 == model.sha256))
        connection.execute(delete(JOBS).where(JOBS.c.model_sha256 == model.sha256))
        connection.execute(delete(CACHE).where(CACHE.c.model_sha256 == model.sha256))
        freed = _drop(workspace, connection, files)
    return freed + sum(remove_log(workspace, log) for log in logs)


def remove_log(workspace: Workspace, log: str) -> int:
    """Deletes the log file of a job that is forgotten; returns the bytes freed."""
    path = workspace.logs / log
    if not log or not path.is_file():
        return 0
    size = path.stat().st_size
    path.unlink(missing_ok=True)
    return size


def sweep_files(workspace: Workspace, *, young: timedelta = YOUNG) -> int:
    """Deletes files that no row refers to, except those put lately (their row may be on its way); returns the bytes."""
    limit = now() - young
    leftovers = workspace.files.remove_leftovers(limit)
    with workspace.database.writing() as connection:
        old = {file.sha256 for file in workspace.files.stored() if file.modified_at <= limit}
        unused = sorted(old - referred(connection))
        return leftovers + sum(workspace.files.remove(sha256) for sha256 in unused)


def referred(connection: Connection) -> set[str]:
    """Hashes of all files that a row names: of models, data and candidates, and in the parameters of jobs."""
    columns = (MODELS.c.sha256, DATASETS.c.sha256, CANDIDATES.c.file_sha256, CANDIDATES.c.dataset_sha256)
    found = {sha256 for column in columns for sha256 in connection.execute(select(column)).scalars() if sha256}
    for params in connection.execute(select(JOBS.c.params)).scalars():
        found.update(text for text in texts(params) if _SHA256.fullmatch(text))
    return found


def texts(value: Any) -> Iterator[str]:
    """All texts among the values of a JSON object, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def _refuse_while_needed(connection: Connection, names: set[str], what: str) -> None:
    """Looks for `names`, ids and hashes, in what jobs that wait or run were told."""
    active = select(JOBS.c.title, JOBS.c.state, JOBS.c.params).where(JOBS.c.state.not_in(FINAL_STATES))
    for title, state, params in connection.execute(active):
        if not names.isdisjoint(texts(params)):
            raise RequestError(
                f"{what} is needed by the job '{title}', which is {state}.", hint="Stop that job first, or wait for it."
            )


def _drop(workspace: Workspace, connection: Connection, files: Mapping[str, datetime]) -> int:
    """Deletes the files that no row names any more; those stored anew since their row was made may get another."""
    unused = sorted(set(files) - referred(connection))
    return sum(workspace.files.remove(sha256) for sha256 in unused if not _is_new(workspace, sha256, files[sha256]))


def _is_new(workspace: Workspace, sha256: str, row_made: datetime) -> bool:
    if not workspace.files.has(sha256):
        return False
    stored = workspace.files.stat(sha256).modified_at
    return stored > row_made and now() - stored < ROW_ON_ITS_WAY
