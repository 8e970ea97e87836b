"""Who runs which job: claims that exactly one supervisor wins, heartbeats, and jobs whose supervisor is gone."""

from __future__ import annotations

import os
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self

import psutil
from sqlalchemy import ColumnElement, Select, select, update

from core.jobs.outcome import end, interrupted
from core.jobs.queue import job, to_row
from core.store.rows import JobRow, JobState, now
from core.store.tables import JOBS
from core.store.workspace import Workspace

LEASE = timedelta(seconds=60)
LEASE_OF_LIVING = timedelta(minutes=10)  # a machine that slept wakes up with old heartbeats


@dataclass(frozen=True, slots=True)
class Keeper:
    """The process that supervises a job; a process number is worth nothing without its start time and host."""

    host: str
    pid: int
    started: float

    @classmethod
    def here(cls) -> Self:
        """This process."""
        return cls(host=_host_id(), pid=os.getpid(), started=psutil.Process().create_time())


@dataclass(frozen=True, slots=True)
class Share:
    """Which queued jobs a lane of a supervisor takes: those of `kinds`, or all but those; or one job only."""

    kinds: Collection[str]
    inverted: bool = False
    only: str | None = None

    def covers(self) -> ColumnElement[bool]:
        """The condition on the job table."""
        by_kind = JOBS.c.kind.not_in(self.kinds) if self.inverted else JOBS.c.kind.in_(self.kinds)
        return by_kind if self.only is None else by_kind & (JOBS.c.id == self.only)


def queued(workspace: Workspace, share: Share) -> tuple[JobRow, ...]:
    """The queued jobs of this share, the longest waiting first."""
    with workspace.database.reading() as connection:
        return tuple(to_row(row) for row in connection.execute(_waiting(share)).mappings())


def claim(workspace: Workspace, share: Share, keeper: Keeper) -> JobRow | None:
    """Takes the longest waiting job of this share; no other supervisor gets it. None where nothing waits."""
    for candidate in queued(workspace, share):
        taken = update(JOBS).where(JOBS.c.id == candidate.id, JOBS.c.state == JobState.QUEUED)
        values = {
            "state": JobState.RUNNING,
            "what": "",
            "started_at": now(),
            "heartbeat_at": now(),
            "host": keeper.host,
            "supervisor_pid": keeper.pid,
            "supervisor_started": keeper.started,
        }
        with workspace.database.writing() as connection:
            won = connection.execute(taken.values(values)).rowcount == 1
        if won:
            return job(workspace, candidate.id)
    return None


def set_pid(workspace: Workspace, job_id: str, pid: int) -> None:
    """Notes the worker's process."""
    with workspace.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(pid=pid))


def beat(workspace: Workspace, job_ids: Sequence[str]) -> None:
    """Says that the supervisor of these jobs is alive."""
    if job_ids:
        with workspace.database.writing() as connection:
            connection.execute(update(JOBS).where(JOBS.c.id.in_(job_ids)).values(heartbeat_at=now()))


def promise(workspace: Workspace, job_id: str, keeper: Keeper) -> None:
    """Notes that this process waits to run a queued job: where it ends before that, the job ends too."""
    waits = update(JOBS).where(JOBS.c.id == job_id, JOBS.c.state == JobState.QUEUED)
    values = {
        "host": keeper.host,
        "supervisor_pid": keeper.pid,
        "supervisor_started": keeper.started,
        "heartbeat_at": now(),
    }
    with workspace.database.writing() as connection:
        connection.execute(waits.values(values))


def interrupt_orphans(workspace: Workspace, keeper: Keeper, *, at: datetime | None = None) -> tuple[str, ...]:
    """Marks jobs whose supervisor is gone as interrupted, running ones and promised ones, and returns their ids.

    Gone means: its process on this host has ended, or it gave no sign of life for `LEASE` (on another host) or
    `LEASE_OF_LIVING` (here).
    """
    moment = at or now()
    promised = (JOBS.c.state == JobState.QUEUED) & JOBS.c.supervisor_pid.is_not(None)
    kept = select(JOBS).where((JOBS.c.state == JobState.RUNNING) | promised)
    with workspace.database.reading() as connection:
        rows = [to_row(row) for row in connection.execute(kept).mappings()]
    orphans = [row for row in rows if _is_orphan(row, keeper, moment)]
    reason = (
        "The program that ran this job ended before the job did (it was closed or killed, or the machine went down)."
    )
    return tuple(row.id for row in orphans if end(workspace, row.id, interrupted(reason)))


def runs_here(workspace: Workspace, pid: int | None) -> bool:
    """Whether a job of this workspace runs under that supervisor's process."""
    running = select(JOBS.c.id).where(JOBS.c.state == JobState.RUNNING, JOBS.c.supervisor_pid == pid).limit(1)
    with workspace.database.reading() as connection:
        return pid is not None and connection.execute(running).first() is not None


def say_waiting(workspace: Workspace, rows: Sequence[JobRow], reason: str) -> None:
    """Writes into each queued job why it waits, and how many are before it."""
    for place, row in enumerate(rows):
        before = "" if place == 0 else f" and {place} more before it"
        what = f"{reason}{before}"
        if row.what != what:
            waiting = update(JOBS).where(JOBS.c.id == row.id, JOBS.c.state == JobState.QUEUED)
            with workspace.database.writing() as connection:
                connection.execute(waiting.values(what=what))


def _waiting(share: Share) -> Select[tuple[object, ...]]:
    waits = JOBS.c.state == JobState.QUEUED
    return select(JOBS).where(waits, share.covers()).order_by(JOBS.c.created_at, JOBS.c.id)


def _is_orphan(row: JobRow, keeper: Keeper, moment: datetime) -> bool:
    silence = LEASE if row.heartbeat_at is None else moment - row.heartbeat_at
    if row.host == keeper.host:
        return silence > LEASE_OF_LIVING or not _is_alive(row.supervisor_pid, row.supervisor_started)
    return silence > LEASE


def _is_alive(pid: int | None, started: float | None) -> bool:
    if pid is None or started is None:
        return False
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - started) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _host_id() -> str:
    """Names the set of process numbers that this process lives in: machine, boot and, on Linux, container."""
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()[:8])
        parts.append(str(Path("/proc/self/ns/pid").stat().st_ino))
    except OSError:  # not Linux
        parts.append(f"{psutil.boot_time():.0f}")
    return ":".join(parts)
