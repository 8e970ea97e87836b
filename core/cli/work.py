"""Work: a command's long part runs as a job of the workspace, in a child process that may die alone."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from core.cli.display import JobDisplay
from core.errors import MixdeskError, StoppedError, WorkError

if TYPE_CHECKING:
    from core.store.rows import JobRow
    from core.store.workspace import Workspace

_POLL_S = 0.1


def open_workspace(path: Path | None) -> Workspace:
    """The workspace asked for, else that of MIXDESK_WORKSPACE, else the user's."""
    from core.store.workspace import Workspace

    return Workspace.open(path)


def run_job(workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str) -> dict[str, Any]:
    """Runs one job to its end and returns its document; Ctrl-C and SIGTERM stop it.

    Raises:
        MixdeskError: what the job said went wrong, or how it ended.
    """
    from core.jobs import queue
    from core.jobs.supervisor import Supervisor
    from core.tasks.command import child_command

    job_id = queue.submit(workspace, kind, params, title=title)
    supervisor = Supervisor(workspace, child_command(workspace.path), only=job_id)
    with _terminate_as_interrupt(), JobDisplay(title) as display:
        supervisor.start()
        try:
            row = queue.wait(workspace, job_id, display.show, poll_s=_POLL_S)
        except KeyboardInterrupt:
            queue.stop(workspace, job_id)
            row = queue.wait(workspace, job_id, display.show, poll_s=_POLL_S)
        finally:
            supervisor.close()
    return outcome(row, workspace.logs)


def outcome(row: JobRow, logs: Path) -> dict[str, Any]:
    """A finished job's document.

    Args:
        row: the job in its final state.
        logs: the folder of its log.

    Raises:
        MixdeskError: of the kind that the job ended with.
    """
    if row.state == "done" and row.result is not None:
        return dict(row.result)
    if row.state == "stopped":
        raise StoppedError(f"Stopped: {row.title}.")
    error = row.error or {"message": f"The job '{row.title}' ended without a result (state: {row.state})."}
    raise _error_of(error, logs / row.log)


def _error_of(error: Mapping[str, Any], log: Path) -> MixdeskError:
    """The stored error as an exception again; what went wrong while working names the log by its full path."""
    of_kind = {known.kind: known for known in _tree(MixdeskError)}.get(str(error.get("kind")), WorkError)
    hint = error.get("hint")
    if issubclass(of_kind, WorkError):
        hint = str(hint).replace(log.name, str(log)) if hint else f"Its log: {log}."
    return of_kind(str(error.get("message")), hint=hint, layer=error.get("layer"))


def _tree(of_kind: type[MixdeskError]) -> Iterator[type[MixdeskError]]:
    yield of_kind
    for below in of_kind.__subclasses__():
        yield from _tree(below)


@contextmanager
def _terminate_as_interrupt() -> Iterator[None]:
    """While it lasts, SIGTERM is told as Ctrl-C, so that the child is stopped before we go."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
