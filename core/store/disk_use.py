"""How much room a workspace takes: in all, per model, and what deleting something would give back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Text, cast, func, select

from core.store.clean import OWNER, YOUNG, files_of_jobs, referred
from core.store.rows import now
from core.store.tables import CACHE, CANDIDATES, DATASETS, JOBS, MODELS
from core.store.workspace import DATABASE_NAME, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """Room taken by a model and what belongs to it, in bytes; a file that two of its rows share counts once.

    `freed_bytes` is what deleting the model would give back: its log files, and the files that nobody else uses. What
    is cached lies in the database, which keeps its size and fills the gap again.
    """

    sha256: str
    name: str
    model_bytes: int
    data_bytes: int
    candidates_bytes: int
    cache_bytes: int
    logs_bytes: int
    freed_bytes: int

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.model_bytes + self.data_bytes + self.candidates_bytes + self.cache_bytes + self.logs_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskUse:
    """Room taken by a workspace, in bytes; `database_bytes`, with `cache_bytes` in it, is 0 where it is elsewhere.

    `unused_bytes` are files that nothing refers to, not even an ended job: they can be freed at once. `held_bytes` are
    such files that were put lately (an upload may be about to name them); the last can be freed after `held_until`.
    `other_files_bytes` are the files of no model (bundles, uploads, what data was made of), of which jobs on no model
    name `job_files_bytes`; `other_logs_bytes` are the logs of such jobs. `shared_bytes` is what `models` hold more than
    once, since several use the same files.
    """

    database_bytes: int
    files_bytes: int
    logs_bytes: int
    cache_bytes: int
    unused_bytes: int
    other_files_bytes: int
    other_logs_bytes: int
    shared_bytes: int
    file_count: int
    job_files_bytes: int
    held_bytes: int
    held_until: datetime | None
    models: tuple[ModelUse, ...]

    @property
    def total_bytes(self) -> int:
        """All of it."""
        return self.database_bytes + self.files_bytes + self.logs_bytes

    @property
    def other_database_bytes(self) -> int:
        """The database without what is cached for the models that are kept."""
        return max(0, self.database_bytes - sum(model.cache_bytes for model in self.models))


def disk_use(workspace: Workspace, *, young: timedelta = YOUNG) -> DiskUse:
    """Measures the room that the workspace takes; files put within `young` do not count as unused yet."""
    stored = list(workspace.files.stored())
    sizes = {file.sha256: file.size_bytes for file in stored}
    logs = {path.name: _size(path) for path in workspace.logs.glob("*")}
    with workspace.database.reading() as connection:
        rows = connection.execute(select(MODELS.c.sha256, MODELS.c.name).order_by(MODELS.c.created_at.desc())).all()
        data = _files_by_model(connection, DATASETS.c.model_sha256, DATASETS.c.sha256)
        built = _files_by_model(connection, CANDIDATES.c.model_sha256, CANDIDATES.c.file_sha256)
        cached = _cached_bytes(connection)
        jobs = connection.execute(select(OWNER.label("owner"), JOBS.c.log)).all()
        told = files_of_jobs(connection)
        named = referred(connection)
    kept = {row.sha256: {row.sha256} | data[row.sha256] | built[row.sha256] for row in rows}
    owners = _owners(kept, told)
    logs_of: dict[str, int] = defaultdict(int)
    for job in jobs:
        logs_of[job.owner or ""] += logs.get(job.log, 0)

    def use(row: Any) -> ModelUse:
        own = {sha256 for sha256 in kept[row.sha256] | told.get(row.sha256, set()) if owners[sha256] == {row.sha256}}
        return ModelUse(
            sha256=row.sha256,
            name=row.name,
            model_bytes=sizes.get(row.sha256, 0),
            data_bytes=_taken(data[row.sha256], sizes),
            candidates_bytes=_taken(built[row.sha256], sizes),
            cache_bytes=cached.get(row.sha256, 0),
            logs_bytes=logs_of[row.sha256],
            freed_bytes=_taken(own, sizes) + logs_of[row.sha256],
        )

    owned = {sha256 for files in kept.values() for sha256 in files}
    unused = [file for file in stored if file.sha256 not in named]
    held = [file for file in unused if file.modified_at > now() - young]
    models = tuple(use(row) for row in rows)
    counted = sum(each.model_bytes + each.data_bytes + each.candidates_bytes for each in models)
    return DiskUse(
        database_bytes=sum(_size(path) for path in workspace.path.glob(f"{DATABASE_NAME}*")),
        files_bytes=sum(sizes.values()),
        logs_bytes=sum(logs.values()),
        cache_bytes=sum(cached.values()),
        unused_bytes=sum(file.size_bytes for file in unused) - sum(file.size_bytes for file in held),
        other_files_bytes=_taken(set(sizes) - owned, sizes),
        other_logs_bytes=sum(logs.values()) - sum(each.logs_bytes for each in models),
        shared_bytes=counted - _taken(owned, sizes),
        file_count=len(stored),
        job_files_bytes=_taken(told.get("", set()) - owned, sizes),
        held_bytes=sum(file.size_bytes for file in held),
        held_until=max((file.modified_at + young for file in held), default=None),
        models=models,
    )


def _files_by_model(connection: Connection, model: Column[Any], file: Column[Any]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for row in connection.execute(select(model.label("model"), file.label("file"))):
        found[row.model].add(row.file)
    return found


def _cached_bytes(connection: Connection) -> dict[str, int]:
    """The length of what is cached, by model; under "" what belongs to none."""
    length = func.sum(func.length(cast(CACHE.c.value, Text)))
    found = connection.execute(select(CACHE.c.model_sha256, length).group_by(CACHE.c.model_sha256))
    return {model or "": int(size or 0) for model, size in found}


def _owners(kept: Mapping[str, set[str]], told: Mapping[str, set[str]]) -> Mapping[str, set[str]]:
    """Which models need a file: by their rows, or by what their jobs were told and stored ("": jobs on no model)."""
    owners: dict[str, set[str]] = defaultdict(set)
    for files_by_model in (kept, told):
        for model, files in files_by_model.items():
            for sha256 in files:
                owners[sha256].add(model)
    return owners


def _taken(files: set[str], sizes: Mapping[str, int]) -> int:
    return sum(sizes.get(sha256, 0) for sha256 in files)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # SQLite's side files come and go
        return 0
