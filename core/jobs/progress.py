"""A worker's progress as rows: at most a few writes a second, none of the last ones lost, and a Stop that is heard."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

from sqlalchemy import func, select, update

from core.errors import MixdeskError, StoppedError
from core.store.rows import FINAL_STATES, now
from core.store.strict_json import plain
from core.store.tables import JOBS, PARTIALS
from core.store.workspace import Workspace

INTERVAL_S = 0.2
ETA_FROM_FRACTION = 0.02
ETA_FROM_S = 1.0

Later = Callable[[float, Callable[[], None]], None]


def after_delay(delay_s: float, action: Callable[[], None]) -> None:
    """Runs `action` in a thread after `delay_s`."""
    timer = threading.Timer(delay_s, action)
    timer.daemon = True
    timer.start()


class JobProgress:
    """Implements `core.progress.Progress` for the job with this id.

    As a context manager it writes what is left at the end and, in the main thread, turns SIGTERM into a StoppedError.

    Args:
        workspace: where the job's row is.
        job_id: the job.
        clock: seconds, monotonic.
        later: runs an action after some seconds (what was held back is written then, if nothing else is reported).
    """

    def __init__(
        self,
        workspace: Workspace,
        job_id: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        later: Later = after_delay,
    ) -> None:
        self._workspace = workspace
        self._job_id = job_id
        self._clock = clock
        self._later = later
        self._lock = threading.RLock()
        self._began_s = clock()
        self._written_s: float | None = None
        self._is_scheduled = False
        self._is_reporting = False
        self._pending: dict[str, Any] = {}
        self._partials: list[dict[str, Any]] = []
        self._seq = self._last_seq()
        self._phase = (0.0, 1.0)
        self._fraction = 0.0
        self._trouble: MixdeskError | None = None
        self._handler_before: Any = signal.SIG_DFL

    def phase(self, name: str, *, start: float, end: float) -> None:
        """Opens a part of the work that covers `start`..`end` of the whole (fractions of 1)."""
        with self._reporting():
            self._phase = (start, end)
            self._advance(start)
            self._report(phase=name, what="")

    def step(self, done: int, total: int, what: str = "") -> None:
        """Says that `done` of `total` units of this phase are finished; `what` names the current one."""
        with self._reporting():
            start, end = self._phase
            if total > 0:
                self._advance(start + (end - start) * done / total)
            self._report(what=what)

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        """Publishes one finished piece."""
        with self._reporting():
            self._seq += 1
            row = {"job_id": self._job_id, "seq": self._seq, "kind": kind, "value": plain(value), "created_at": now()}
            self._partials.append(row)
            self._report()

    def flush(self) -> None:
        """Writes what was held back."""
        with self._reporting():
            if self._pending or self._partials:
                self._write()

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._handler_before = signal.signal(signal.SIGTERM, self._on_terminate)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._handler_before)
        self.flush()

    def _on_terminate(self, number: int, frame: FrameType | None) -> None:
        """The supervisor ends the worker: unwind, so that what is known gets written and what is open closed."""
        if self._trouble is None:
            self._trouble = StoppedError("The worker was told to end.", hint="What it had found is kept.")
            if not self._is_reporting:  # else the report that was interrupted raises it when it is through
                raise self._trouble

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        with self._lock:
            outermost, self._is_reporting = not self._is_reporting, True
            try:
                yield
            finally:
                self._is_reporting = not outermost

    def _advance(self, fraction: float) -> None:
        self._fraction = max(self._fraction, min(1.0, fraction))

    def _report(self, **values: str) -> None:
        self._pending.update(values)
        self._pending["fraction"] = self._fraction
        elapsed = None if self._written_s is None else self._clock() - self._written_s
        if elapsed is None or elapsed >= INTERVAL_S:
            self._write()
        elif not self._is_scheduled:
            self._is_scheduled = True
            self._later(INTERVAL_S - elapsed, self._write_late)
        if self._trouble is not None:
            raise self._trouble

    def _write_late(self) -> None:
        with self._reporting():
            self._is_scheduled = False
            try:
                self.flush()
            except MixdeskError as e:
                self._trouble = e  # told by the next report: nobody listens in this thread

    def _write(self) -> None:
        self._written_s = self._clock()
        active = JOBS.c.state.not_in(FINAL_STATES)
        change = update(JOBS).where(JOBS.c.id == self._job_id, active).values(**self._pending, eta_s=self._eta_s())
        with self._workspace.database.writing() as connection:
            row = connection.execute(change.returning(JOBS.c.stop_requested)).one_or_none()
            exists = row is not None or connection.execute(select(JOBS.c.id).where(JOBS.c.id == self._job_id)).first()
            if exists and self._partials:
                connection.execute(PARTIALS.insert(), self._partials)
        self._pending, self._partials = {}, []
        if row is None:
            self._trouble = StoppedError("The job was ended or removed while its worker ran.")
        elif row.stop_requested:
            self._trouble = StoppedError("Stopped on request.", hint="What it had found is kept.")

    def _eta_s(self) -> float | None:
        elapsed_s = self._clock() - self._began_s
        if self._fraction < ETA_FROM_FRACTION or elapsed_s < ETA_FROM_S:
            return None
        return elapsed_s * (1.0 - self._fraction) / self._fraction

    def _last_seq(self) -> int:
        last = select(func.max(PARTIALS.c.seq)).where(PARTIALS.c.job_id == self._job_id)
        with self._workspace.database.reading() as connection:
            return int(connection.execute(last).scalar() or 0)
