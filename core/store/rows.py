"""What the workspace hands out: frozen rows, one class per table."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

Json = Mapping[str, Any]


def new_id() -> str:
    """Returns a fresh random id of 12 hexadecimal digits, short enough for a link."""
    return secrets.token_hex(6)


def now() -> datetime:
    """Returns the present time in UTC, with its time zone."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A model somebody loaded; its file is `files.path(sha256)`."""

    sha256: str
    name: str
    size_bytes: int
    origin: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """Data given for one model; its file is `files.path(sha256)`."""

    sha256: str
    model_sha256: str
    name: str
    size_bytes: int
    synthetic: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """A built model with the recipe and plan that made it and the report of what came out."""

    model_sha256: str
    file_sha256: str
    recipe: Json
    plan: Json
    report: Json
    name: str = ""
    dataset_sha256: str | None = None
    job_id: str | None = None
    id: str = field(default_factory=new_id)
    created_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class MixRow:
    """A recipe kept under a name for one model (the Mix page's draft too)."""

    model_sha256: str
    name: str
    recipe: Json
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapesRow:
    """Sizes of a model's inputs kept under a name: input name -> sizes, all of them whole numbers."""

    model_sha256: str
    name: str
    shapes: Mapping[str, tuple[int, ...]]
    updated_at: datetime


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    CRASHED = "crashed"
    INTERRUPTED = "interrupted"

    @property
    def is_final(self) -> bool:
        """Whether nothing will change any more."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


FINAL_STATES = tuple(state for state in JobState if state.is_final)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A job as it stands now.

    `what` names the piece of work at hand; of a queued job it says what the job waits for. `error` is an object as in
    `core.errors.MixdeskError.to_dict`, also for crashed, stopped and interrupted jobs. `log` is a file in the
    workspace's `logs` folder. `pid` leads the process group of the worker. `resumes` is the id of the job whose work
    it does again, which may have been forgotten since.
    """

    id: str
    kind: str
    title: str
    params: Json
    model_sha256: str | None
    state: JobState
    fraction: float | None
    phase: str
    what: str
    eta_s: float | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    pid: int | None
    result: Json | None
    error: Json | None
    log: str
    stop_requested: bool
    host: str | None
    supervisor_pid: int | None
    supervisor_started: float | None
    heartbeat_at: datetime | None
    resumes: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether nothing will change any more."""
        return self.state.is_final

    @property
    def duration_s(self) -> float | None:
        """Seconds from its start to its end; None where it never started or still runs."""
        if self.started_at is None or self.finished_at is None:
            return None
        return (self.finished_at - self.started_at).total_seconds()


@dataclass(frozen=True, slots=True)
class Partial:
    """A result that a running job published before its end; `seq` counts from 1 per job."""

    seq: int
    kind: str
    value: Json
