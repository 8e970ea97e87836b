"""Runs queued jobs: one timed job at a time per machine, each in a child process that is watched to its end."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from types import TracebackType
from typing import Self

from core.errors import MixdeskError
from core.jobs.claim import Keeper, Share, beat, interrupt_orphans, promise
from core.jobs.lane import Lane
from core.jobs.limits import Limits
from core.jobs.machine_lock import MachineLock
from core.jobs.scratch import remove_scratch
from core.store.rows import JobRow
from core.store.workspace import Workspace

TICK_S = 0.2
IDLE_TICK_S = 0.25
HEARTBEAT_S = 5.0
RETRY_S = 1.0
UNTIMED_KINDS = frozenset({"inspect", "bring", "convert", "bundle"})

_log = logging.getLogger(__name__)


class Supervisor:
    """A thread that claims the workspace's queued jobs and runs them. Several may work on one workspace.

    Args:
        workspace: where the jobs are.
        command: the command line of a job's worker.
        only: the id of the one job to run; None: whatever is queued.
        untimed: kinds of jobs that time nothing: they run beside a timed job, one at a time.
        limits: memory of a job, and its grace when it is stopped; default: as the environment says.
        machine_lock: the file that keeps timed jobs apart; default: one per user of this machine.
    """

    def __init__(
        self,
        workspace: Workspace,
        command: Callable[[JobRow], list[str]],
        *,
        only: str | None = None,
        untimed: Collection[str] = UNTIMED_KINDS,
        limits: Limits | None = None,
        machine_lock: Path | None = None,
    ) -> None:
        limits = limits or Limits.from_environment()
        keeper = Keeper.here()
        beside = Share(untimed, only=only)
        timed = Share(untimed, inverted=True, only=only)
        self._workspace = workspace
        self._keeper = keeper
        self._only = only
        self._lanes = (
            Lane(workspace, command, share=timed, keeper=keeper, limits=limits, lock=MachineLock(machine_lock)),
            Lane(workspace, command, share=beside, keeper=keeper, limits=limits, lock=None),
        )
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins to run jobs; those of supervisors that are gone are marked interrupted first."""
        if self._thread is not None:
            return
        end_orphans(self._workspace, self._keeper)
        if self._only is not None:
            promise(self._workspace, self._only, self._keeper)
        self._thread = threading.Thread(target=self._run, name="mixdesk-supervisor", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends the running jobs (they become interrupted) and the thread; queued jobs stay queued."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self) -> None:
        next_beat_s = 0.0
        while not self._closing.is_set():
            try:
                if time.monotonic() >= next_beat_s:
                    next_beat_s = time.monotonic() + HEARTBEAT_S
                    self._keep_in_touch()
                for lane in self._lanes:
                    lane.tick()
            except MixdeskError as e:  # the database may be busy or the disk full for a while: jobs go on
                _log.warning("%s", e.message)
                self._closing.wait(RETRY_S)
            except Exception:  # noqa: BLE001 - without this thread, no job would ever run again
                _log.exception("The supervisor of jobs met a fault and goes on")
                self._closing.wait(RETRY_S)
            busy = any(lane.is_busy for lane in self._lanes)
            self._closing.wait(TICK_S if busy else IDLE_TICK_S)
        for lane in self._lanes:
            lane.close()

    def _keep_in_touch(self) -> None:
        own = {self._only, *(lane.job_id for lane in self._lanes)}
        beat(self._workspace, sorted(job_id for job_id in own if job_id is not None))
        end_orphans(self._workspace, self._keeper)


def end_orphans(workspace: Workspace, keeper: Keeper | None = None) -> None:
    """Marks the jobs of programs that are gone as interrupted, and removes what their workers left lying about."""
    for job_id in interrupt_orphans(workspace, keeper or Keeper.here()):
        remove_scratch(workspace, job_id)
