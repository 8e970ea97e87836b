"""Forgetting: models, data, candidates and jobs with the files that nobody else refers to; never what a job needs.

What a deletion leaves without a reference goes at once. A file that nobody ever referred to may belong to an upload
whose row is on its way: only a sweep takes it, when it is no longer young.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, delete, func, select

from core.errors import NotFoundError, RequestError
from core.store.rows import FINAL_STATES, JobState, now
from core.store.tables import CACHE, CANDIDATES, DATASETS, JOBS, MODELS
from core.store.workspace import Workspace

YOUNG = timedelta(hours=1)
ROW_ON_ITS_WAY = timedelta(minutes=1)  # between storing a file and writing the row that names it
_SHA256 = re.compile(r"[0-9a-f]{64}")
_AT_ONCE = 500
_OPENING = "bring"
#: Where jobs of a kind tell, in their results, the files that they stored.
_STORED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    _OPENING: (("model",), ("data", "sha256"), ("tokenizer",)),
    "convert": (("data",),),
    "bundle": (("file",),),
}
#: The model a job belongs to; of a job that opened one, older versions kept that in its result alone.
OWNER: ColumnElement[str | None] = func.coalesce(
    JOBS.c.model_sha256, case((JOBS.c.kind == _OPENING, JOBS.c.result["model"].as_string()))
)


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

    The jobs that opened it go as well. Files go with the rows and jobs that name them, unless something else does.

    Raises:
        NotFoundError: no such model.
        RequestError: a job that waits or runs needs it or one of its candidates.
    """
    model = workspace.model(sha256)
    built = workspace.candidates(model.sha256)
    needed = {model.sha256, *(row.id for row in built), *(row.file_sha256 for row in built)}
    with workspace.database.writing() as connection:
        _refuse_while_needed(connection, needed, f"The model '{model.name}'")
        its_jobs = OWNER.in_([model.sha256])
        files = _named_by_jobs(connection, its_jobs)
        _add(files, {model.sha256: model.created_at})
        _add(files, {row.sha256: row.created_at for row in workspace.datasets(model.sha256)})
        for row in built:  # of equal files the newest row counts
            _add(files, {row.file_sha256: row.created_at})
        logs = connection.execute(select(JOBS.c.log).where(its_jobs)).scalars().all()
        connection.execute(delete(MODELS).where(MODELS.c.sha256 == model.sha256))
        connection.execute(delete(JOBS).where(its_jobs))
        connection.execute(delete(CACHE).where(CACHE.c.model_sha256 == model.sha256))
        freed = _drop(workspace, connection, files)
    return freed + sum(remove_log(workspace, log) for log in logs)


def remove_jobs(workspace: Workspace, ids: Collection[str], *, settled: bool = True) -> int:
    """Deletes jobs, their partial results, logs, and the files that only they named; returns the bytes freed.

    Args:
        workspace: where they are.
        ids: of jobs that have ended.
        settled: nobody is about to go on with what they found; else the files of those that ended in the last minute
            stay, since the job that is to use them may be on its way.
    """
    freed, wanted = 0, sorted(ids)
    for start in range(0, len(wanted), _AT_ONCE):
        these = JOBS.c.id.in_(wanted[start : start + _AT_ONCE])
        with workspace.database.writing() as connection:
            files = _named_by_jobs(connection, these)
            logs = connection.execute(select(JOBS.c.log).where(these)).scalars().all()
            connection.execute(delete(JOBS).where(these))
            limit = now() - (timedelta(0) if settled else ROW_ON_ITS_WAY)
            freed += _drop(workspace, connection, {name: made for name, made in files.items() if made <= limit})
        freed += sum(remove_log(workspace, log) for log in logs)
    return freed


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
    """Hashes of all files that are named: by models, data, candidates, and in what jobs were told or have opened."""
    columns = (MODELS.c.sha256, DATASETS.c.sha256, CANDIDATES.c.file_sha256, CANDIDATES.c.dataset_sha256)
    found = {sha256 for column in columns for sha256 in connection.execute(select(column)).scalars() if sha256}
    for params in connection.execute(select(JOBS.c.params)).scalars():
        found |= named(params)
    return found | set(_stored_by(connection, _OPENING, JOBS.c.kind == _OPENING))


def files_of_jobs(connection: Connection) -> dict[str, set[str]]:
    """Model ("" for none) -> hashes of all files that its jobs were told or stored."""
    found: dict[str, set[str]] = {}
    for row in connection.execute(select(OWNER.label("owner"), JOBS.c.params)):
        found.setdefault(row.owner or "", set()).update(named(row.params))
    for kind in _STORED:
        for sha256, (owner, _) in _stored_by(connection, kind, JOBS.c.kind == kind).items():
            found.setdefault(owner or "", set()).add(sha256)
    return found


def named(params: Any) -> set[str]:
    """What looks like a hash among the texts of a JSON object."""
    return {text for text in texts(params) if _SHA256.fullmatch(text)}


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


def _named_by_jobs(connection: Connection, which: ColumnElement[bool]) -> dict[str, datetime]:
    """Hash -> when the newest of these jobs ended that was told the file or stored it."""
    found: dict[str, datetime] = {}
    for params, created_at, finished_at in connection.execute(
        select(JOBS.c.params, JOBS.c.created_at, JOBS.c.finished_at).where(which)
    ):
        _add(found, dict.fromkeys(named(params), finished_at or created_at))
    for kind in _STORED:
        stored = _stored_by(connection, kind, which & (JOBS.c.kind == kind))
        _add(found, {sha256: finished_at for sha256, (_, finished_at) in stored.items()})
    return found


def _stored_by(connection: Connection, kind: str, which: ColumnElement[bool]) -> dict[str, tuple[str | None, datetime]]:
    """Hash of each file that jobs say they stored -> the model they belong to, and when the last of them ended."""
    paths = [JOBS.c.result[path].label(f"path{number}") for number, path in enumerate(_STORED[kind])]
    done = select(OWNER, JOBS.c.finished_at, *paths).where(which, JOBS.c.state == JobState.DONE)
    found: dict[str, tuple[str | None, datetime]] = {}
    for owner, finished_at, *parts in connection.execute(done.order_by(JOBS.c.finished_at)):
        found |= {sha256: (owner, finished_at) for part in parts for sha256 in named(part)}
    return found


def _add(files: dict[str, datetime], more: Mapping[str, datetime]) -> None:
    """Of two rows that name a file, the newer counts."""
    for sha256, made in more.items():
        files[sha256] = max(made, files.get(sha256, made))


def _drop(workspace: Workspace, connection: Connection, files: Mapping[str, datetime]) -> int:
    """Deletes the files that no row names any more; those stored again since may get another row."""
    unused = sorted(set(files) - referred(connection))
    return sum(
        workspace.files.remove(sha256) for sha256 in unused if not _is_new(workspace, connection, sha256, files[sha256])
    )


def _is_new(workspace: Workspace, connection: Connection, sha256: str, named_at: datetime) -> bool:
    """Whether somebody stored the file again, after all that named it, and may be about to name it anew."""
    if not workspace.files.has(sha256):
        return False
    stored = workspace.files.stat(sha256).modified_at
    if stored <= named_at:
        return False
    running = select(func.min(JOBS.c.started_at)).where(JOBS.c.state == JobState.RUNNING)
    started: datetime | None = connection.execute(running).scalar()
    return now() - stored < ROW_ON_ITS_WAY or (started is not None and started <= stored)
