"""How a job ends is told as the error it was, with its log where the work failed; an interrupted wait stops it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.errors import CrashedError, DataError, MixdeskError, StoppedError, WorkError
from core.jobs import queue
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace
from core.tasks import command
from core.tasks.running import outcome, run_job
from tests.cli.test_display import ROW

LOGS = Path("/somewhere/logs")


def _raised(row: JobRow) -> MixdeskError:
    with pytest.raises(MixdeskError) as raised:
        outcome(row, LOGS)
    return raised.value


def test_a_done_job_gives_its_document() -> None:
    assert outcome(replace(ROW, state=JobState.DONE, result={"x": 1}), LOGS) == {"x": 1}


def test_a_mistake_comes_back_as_the_error_it_was() -> None:
    stored = {"kind": "data", "message": "NaN in 'x'.", "hint": "Look.", "layer": None}
    error = _raised(replace(ROW, state=JobState.FAILED, error=stored))
    assert isinstance(error, DataError)
    assert error.to_dict() == stored
    assert error.exit_status == 2


def test_a_crash_names_the_log_by_its_full_path() -> None:
    stored = {"kind": "crashed", "message": "Killed.", "hint": "Its log: a.log.", "layer": None}
    error = _raised(replace(ROW, state=JobState.CRASHED, error=stored))
    assert isinstance(error, CrashedError)
    assert error.exit_status == 3
    assert error.hint == "Its log: /somewhere/logs/a.log."


def test_failed_work_without_a_hint_names_the_log() -> None:
    error = _raised(replace(ROW, state=JobState.FAILED, error={"kind": "run", "message": "No.", "hint": None}))
    assert error.hint == "Its log: /somewhere/logs/a.log."


def test_a_stopped_job_is_told_as_stopped() -> None:
    error = _raised(replace(ROW, state=JobState.STOPPED))
    assert isinstance(error, StoppedError)
    assert error.exit_status == 3


def test_a_kind_that_nobody_knows_is_failed_work() -> None:
    error = _raised(replace(ROW, state=JobState.FAILED, error={"kind": "odd", "message": "Odd."}))
    assert type(error) is WorkError


@pytest.fixture
def sleeper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Makes every job's worker sleep."""
    monkeypatch.setenv("MIXDESK_MACHINE_LOCK", str(tmp_path / "lock"))

    def command_of(path: Path) -> Callable[[JobRow], list[str]]:
        return lambda row: [sys.executable, "-c", "import time; time.sleep(60)"]

    monkeypatch.setattr(command, "child_command", command_of)


@pytest.mark.usefixtures("sleeper")
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_the_wait_stops_the_job_and_goes_on(
    workspace_path: Path, interruption: type[BaseException]
) -> None:
    store = Workspace.open(workspace_path)
    seen: list[str] = []

    def watch(row: JobRow) -> None:
        if row.state == JobState.RUNNING and not seen:
            seen.append(row.id)
            raise interruption

    with pytest.raises(interruption):
        run_job(store, "profile", {}, title="Profile tiny", on_change=watch)
    assert queue.job(store, seen[0]).state == JobState.STOPPED
