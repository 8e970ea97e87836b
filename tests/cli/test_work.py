"""How a job ends is told as the error it was, with its log where the work failed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from core.cli.display import JobDisplay
from core.cli.work import run_job
from core.errors import CrashedError, StoppedError
from core.jobs import queue
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace
from core.tasks import command


def _worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str) -> None:
    """Makes this program the worker of every job."""
    monkeypatch.setenv("MIXDESK_MACHINE_LOCK", str(tmp_path / "lock"))

    def command_of(path: Path) -> Callable[[JobRow], list[str]]:
        return lambda row: [sys.executable, "-c", program.format(path=str(path), job=row.id)]

    monkeypatch.setattr(command, "child_command", command_of)


FINISHES = """
from pathlib import Path
from core.jobs.outcome import finish
from core.store.workspace import Workspace
finish(Workspace.open(Path({path!r})), {job!r}, dict(answer=42))
"""


def test_a_job_runs_in_a_worker_and_gives_its_document(
    workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _worker(monkeypatch, tmp_path, FINISHES)
    assert run_job(Workspace.open(workspace_path), "profile", {}, title="Profile tiny") == {"answer": 42}


def test_a_worker_that_dies_does_not_take_the_command_along(
    workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _worker(monkeypatch, tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    with pytest.raises(CrashedError, match="signal 11") as crash:
        run_job(Workspace.open(workspace_path), "profile", {}, title="Profile tiny")
    assert str(workspace_path / "logs") in str(crash.value.hint)


def test_ctrl_c_stops_the_job(workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _worker(monkeypatch, tmp_path, "import time; time.sleep(60)")
    pressed: list[str] = []

    def show(display: JobDisplay, row: JobRow) -> None:
        if row.state == JobState.RUNNING and not pressed:
            pressed.append(row.id)
            raise KeyboardInterrupt

    monkeypatch.setattr(JobDisplay, "show", show)
    store = Workspace.open(workspace_path)
    with pytest.raises(StoppedError):
        run_job(store, "profile", {}, title="Profile tiny")
    assert queue.job(store, pressed[0]).state == JobState.STOPPED


def test_sigterm_stops_the_job_too(workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _worker(monkeypatch, tmp_path, "import time; time.sleep(60)")

    sent: list[str] = []

    def show(display: JobDisplay, row: JobRow) -> None:
        if row.state == JobState.RUNNING and not sent:
            sent.append(row.id)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(JobDisplay, "show", show)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(StoppedError):
        run_job(Workspace.open(workspace_path), "profile", {}, title="Profile tiny")
    assert signal.getsignal(signal.SIGTERM) is before


def test_jobs_of_others_stay_queued(workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _worker(monkeypatch, tmp_path, FINISHES)
    store = Workspace.open(workspace_path)
    theirs = queue.submit(store, "profile", {}, title="Theirs")
    run_job(store, "profile", {}, title="Ours")
    assert queue.job(store, theirs).state == JobState.QUEUED
