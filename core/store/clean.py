"""Forgetting: models and candidates with the files that nobody else refers to; and how much room all takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, select

from core.store.rows import now
from core.store.tables import CANDIDATES, DATASETS, JOBS, MODELS
from core.store.workspace import DATABASE_NAME, Workspace

YOUNG = timedelta(hours=1)
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Room taken by a workspace, in bytes; `database_bytes` is 0 where the database is elsewhere."""

    database_bytes: int
    files_bytes: int
    logs_bytes: int
    file_count: int

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.database_bytes + self.files_bytes + self.logs_bytes


def disk_use(workspace: Workspace) -> DiskUse:
    """Measures the room that the workspace takes."""
    files = list(workspace.files.stored())
    return DiskUse(
        database_bytes=sum(_size(path) for path in workspace.path.glob(f"{DATABASE_NAME}*")),
        files_bytes=sum(file.size_bytes for file in files),
        logs_bytes=sum(_size(path) for path in workspace.logs.glob("*")),
        file_count=len(files),
    )


def remove_candidate(workspace: Workspace, candidate_id: str) -> int:
    """Deletes a candidate and its file, unless something else refers to it; returns the bytes freed.

    Raises:
        NotFoundError: no such candidate.
    """
    candidate = workspace.candidate(candidate_id)
    with workspace.database.writing() as connection:
        connection.execute(delete(CANDIDATES).where(CANDIDATES.c.id == candidate.id))
        return _drop(workspace, connection, {candidate.file_sha256})


def remove_model(workspace: Workspace, sha256: str) -> int:
    """Deletes a model with its data, candidates and mixes, and their files; returns the bytes freed.

    Raises:
        NotFoundError: no such model.
    """
    model = workspace.model(sha256)
    files = {model.sha256}
    files |= {row.sha256 for row in workspace.datasets(model.sha256)}
    files |= {row.file_sha256 for row in workspace.candidates(model.sha256)}
    with workspace.database.writing() as connection:
        connection.execute(delete(MODELS).where(MODELS.c.sha256 == model.sha256))
        return _drop(workspace, connection, files)


def sweep_files(workspace: Workspace, *, young: timedelta = YOUNG) -> int:
    """Deletes files that no row refers to, except those put lately (their row may be on its way); returns the bytes."""
    limit = now() - young
    leftovers = workspace.files.remove_leftovers(limit)
    with workspace.database.writing() as connection:
        old = {file.sha256 for file in workspace.files.stored() if file.modified_at <= limit}
        return leftovers + _drop(workspace, connection, old)


def _drop(workspace: Workspace, connection: Connection, files: set[str]) -> int:
    return sum(workspace.files.remove(sha256) for sha256 in sorted(files - _referred(connection)))


def _referred(connection: Connection) -> set[str]:
    """Hashes of all files that a row names: of models, data and candidates, and in the parameters of jobs."""
    columns = (MODELS.c.sha256, DATASETS.c.sha256, CANDIDATES.c.file_sha256, CANDIDATES.c.dataset_sha256)
    found = {sha256 for column in columns for sha256 in connection.execute(select(column)).scalars() if sha256}
    for params in connection.execute(select(JOBS.c.params)).scalars():
        found.update(_hashes(params))
    return found


def _hashes(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if _SHA256.fullmatch(value):
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _hashes(item)
    elif isinstance(value, list):
        for item in value:
            yield from _hashes(item)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # SQLite's side files come and go
        return 0
