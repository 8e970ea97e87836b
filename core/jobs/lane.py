"""One job at a time, from its claim to its end: the state machine that a supervisor steps."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.errors import MixdeskError, NotFoundError
from core.jobs.child import Child
from core.jobs.claim import Keeper, Share, claim, queued, runs_here, say_waiting, set_pid
from core.jobs.limits import Limits
from core.jobs.machine_lock import MachineLock
from core.jobs.outcome import Ending, end, interrupted, judge_exit, not_started, over_memory, stop_ending
from core.jobs.queue import job
from core.jobs.scratch import make_scratch, remove_scratch
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace

MEMORY_CHECK_S = 0.5
QUEUE_LOOK_S = 1.0  # while a job runs

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    row: JobRow
    child: Child
    kill_at_s: float | None = None
    memory_check_s: float = 0.0
    ending: Ending | None = None


class Lane:
    """Runs the jobs of one share, one after the other; `lock`, where given, is held while one runs."""

    def __init__(
        self,
        workspace: Workspace,
        command: Callable[[JobRow], list[str]],
        *,
        share: Share,
        keeper: Keeper,
        limits: Limits,
        lock: MachineLock | None,
    ) -> None:
        self._workspace = workspace
        self._command = command
        self._share = share
        self._keeper = keeper
        self._limits = limits
        self._lock = lock
        self._running: _Running | None = None
        self._queue_look_s = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether a job runs."""
        return self._running is not None

    @property
    def job_id(self) -> str | None:
        """The job that runs."""
        return None if self._running is None else self._running.row.id

    def tick(self) -> None:
        """Does what is due: looks after the running job, or starts the next one."""
        if self._running is not None:
            self._look_after(self._running)
        if self._running is not None and time.monotonic() < self._queue_look_s:
            return
        self._queue_look_s = time.monotonic() + QUEUE_LOOK_S
        waiting = queued(self._workspace, self._share)
        if not waiting:
            return
        if self._running is not None:
            blocker = f"'{self._running.row.title}'" if self._lock is None else self._lock.holder()
            self._say_waiting(waiting, f"Waits for {blocker}")
        elif self._lock is not None and not self._lock.take(waiting[0].title):
            self._say_waiting(waiting, _who_measures(self._workspace, self._lock))
        else:
            self._start_next()

    def close(self) -> None:
        """Ends the running job, which becomes interrupted."""
        running = self._running
        if running is None:
            return
        try:
            end(
                self._workspace, running.row.id, running.ending or interrupted("Mixdesk was closed while this job ran.")
            )
        except MixdeskError as e:  # the next supervisor will find it orphaned
            _log.warning("%s", e.message)
        running.child.terminate()
        if not running.child.wait(self._limits.grace_s):
            running.child.kill()
            running.child.wait(self._limits.grace_s)
        running.child.poll()
        self._release()

    def _say_waiting(self, waiting: Sequence[JobRow], reason: str) -> None:
        if self._share.only is None:
            say_waiting(self._workspace, waiting, reason)
        else:  # the supervisor of the whole queue, if there is one, knows better
            say_waiting(self._workspace, [row for row in waiting if not row.what], reason)

    def _start_next(self) -> None:
        try:
            row = claim(self._workspace, self._share, self._keeper)
            child = None if row is None else self._spawn(row)
            if row is not None and child is not None:
                self._running = _Running(row, child)
                set_pid(self._workspace, row.id, child.pid)
        finally:
            if self._running is None:
                self._release()

    def _spawn(self, row: JobRow) -> Child | None:
        try:
            environment = {**self._workspace.environment(), "TMPDIR": str(make_scratch(self._workspace, row.id))}
            return Child(self._command(row), self._workspace.logs / row.log, environment=environment)
        except OSError as e:
            reason = str(e.strerror or e)
        except MixdeskError as e:
            reason = e.message.rstrip(".")
        except Exception as e:  # noqa: BLE001 - a fault of ours must not leave a job that runs for ever
            _log.exception("The command of job %s cannot be made", row.id)
            reason = f"Mixdesk made a mistake ({type(e).__name__}: {e})"
        end(self._workspace, row.id, not_started(reason))
        remove_scratch(self._workspace, row.id)
        return None

    def _look_after(self, running: _Running) -> None:
        exit_code = running.child.poll()
        row = self._row_now(running)
        if exit_code is not None:
            end(self._workspace, row.id, running.ending or judge_exit(row, exit_code))
            self._release()
        elif running.kill_at_s is not None:
            if time.monotonic() >= running.kill_at_s:
                running.child.kill()
        elif row.is_final:  # its worker has stored the result and is closing, or others declared it dead
            running.kill_at_s = time.monotonic() + self._limits.grace_s
        elif row.stop_requested:
            self._begin_ending(running, stop_ending())
        else:
            self._check_memory(running)

    def _row_now(self, running: _Running) -> JobRow:
        try:
            return job(self._workspace, running.row.id)
        except NotFoundError:  # removed by force: nobody waits for it any more
            running.child.kill()
            return replace(running.row, state=JobState.INTERRUPTED)

    def _begin_ending(self, running: _Running, ending: Ending) -> None:
        running.ending = ending
        running.kill_at_s = time.monotonic() + self._limits.grace_s
        running.child.terminate()

    def _check_memory(self, running: _Running) -> None:
        limit = self._limits.memory_bytes
        if limit is None or time.monotonic() < running.memory_check_s:
            return
        running.memory_check_s = time.monotonic() + MEMORY_CHECK_S
        used = running.child.memory_bytes()
        if used > limit:
            running.ending = over_memory(running.row, used, limit)
            running.kill_at_s = time.monotonic()
            running.child.kill()

    def _release(self) -> None:
        if self._running is not None:
            remove_scratch(self._workspace, self._running.row.id)
        self._running = None
        if self._lock is not None:
            self._lock.give_back()


def _who_measures(workspace: Workspace, lock: MachineLock) -> str:
    """Why a job waits while another process holds the machine; what other workspaces measure is their own affair."""
    pid = lock.holder_pid()
    if runs_here(workspace, pid):
        return f"Waits for {lock.holder()}"
    return "Another Mixdesk on this machine is measuring" + ("" if pid is None else f" (process {pid})")
