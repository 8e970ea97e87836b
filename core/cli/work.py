"""Work: a command's long part runs as a job of the workspace, shown while it runs; Ctrl-C and SIGTERM stop it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from core.cli.display import JobDisplay
from core.errors import StoppedError

if TYPE_CHECKING:
    from core.store.workspace import Workspace


def open_workspace(path: Path | None) -> Workspace:
    """The workspace asked for, else that of MIXDESK_WORKSPACE, else the user's."""
    from core.store.workspace import Workspace

    return Workspace.open(path)


def run_job(workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str) -> dict[str, Any]:
    """Runs one job to its end and returns its document; Ctrl-C and SIGTERM stop it.

    Raises:
        MixdeskError: what the job said went wrong, or how it ended.
    """
    from core.tasks.running import begin_job

    with _terminate_as_interrupt():
        return show_job(workspace, begin_job(workspace, kind, params, title=title), title=title)


def show_job(workspace: Workspace, job_id: str, *, title: str) -> dict[str, Any]:
    """Runs this queued job to its end, shown in the terminal; as `run_job`."""
    from core.tasks.running import finish_job

    with _terminate_as_interrupt(), JobDisplay(title) as display:
        try:
            return finish_job(workspace, job_id, on_change=display.show)
        except KeyboardInterrupt as interrupt:
            raise StoppedError(f"Stopped: {title}.") from interrupt


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
