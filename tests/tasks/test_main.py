"""A worker stores the result or the error of its job; whatever the task does, it does not raise."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.errors import DataError, StoppedError
from core.jobs import queue
from core.progress import Progress
from core.store.workspace import Workspace
from core.tasks import registry
from core.tasks.__main__ import main, work
from core.tasks.command import child_command


@pytest.fixture
def store(workspace_path: Path) -> Workspace:
    return Workspace.open(workspace_path)


def _task(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> list[dict[str, Any]]:
    """Puts a task in place that gives or raises `outcome`; returns the parameters it will have been given."""
    given: list[dict[str, Any]] = []

    def task(workspace: Workspace, params: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
        given.append(dict(params))
        progress.phase("Work", start=0.0, end=1.0)
        if isinstance(outcome, BaseException):
            raise outcome
        return dict(outcome)

    monkeypatch.setattr(registry, "find_task", lambda kind: task)
    return given


def test_a_result_is_stored_complete(store: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    given = _task(monkeypatch, {"answer": float("nan")})
    job_id = queue.submit(store, "odd", {"threads": 2})
    assert work(store, job_id) == 0
    row = queue.job(store, job_id)
    assert row.state == "done"
    assert row.result is not None
    assert row.result["answer"] is None
    assert row.result["conditions"]["threads"] == 2
    assert given == [{"threads": 2, "job": job_id}]


def test_a_mistake_is_stored_as_it_is(store: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    _task(monkeypatch, DataError("NaN in 'x'.", hint="Look."))
    job_id = queue.submit(store, "odd", {})
    assert work(store, job_id) == 2
    row = queue.job(store, job_id)
    assert row.state == "failed"
    assert row.error == {"kind": "data", "message": "NaN in 'x'.", "hint": "Look.", "layer": None}


def test_stopped_work_is_stopped_not_failed(store: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    _task(monkeypatch, StoppedError("Stopped on request."))
    job_id = queue.submit(store, "odd", {})
    assert work(store, job_id) == 3
    assert queue.job(store, job_id).state == "stopped"


@pytest.mark.parametrize(
    ("defect", "says"),
    [
        (KeyError("x"), "Something went wrong inside Mixdesk (KeyError: 'x')."),
        (MemoryError(), "There was not enough memory for this work."),
    ],
)
def test_a_defect_is_one_sentence_and_its_trace_is_in_the_log(
    store: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, defect: Exception, says: str
) -> None:
    _task(monkeypatch, defect)
    job_id = queue.submit(store, "odd", {})
    with caplog.at_level(logging.INFO):
        assert work(store, job_id) == 3
    row = queue.job(store, job_id)
    assert row.error is not None
    assert row.error["message"] == says
    assert any(record.exc_info for record in caplog.records)


def test_an_unknown_kind_of_work_is_refused(store: Workspace) -> None:
    job_id = queue.submit(store, "profil", {})
    assert work(store, job_id) == 2
    error = queue.job(store, job_id).error
    assert error is not None
    assert "Did you mean 'profile'?" in error["message"]


def test_a_worker_is_started_by_the_command_that_supervisors_get(
    store: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _task(monkeypatch, {"answer": 1})
    job_id = queue.submit(store, "odd", {})
    command = child_command(store.path)(queue.job(store, job_id))
    assert command[1:4] == ["-P", "-m", "core.tasks"]
    assert main(command[4:]) == 0
    assert queue.job(store, job_id).state == "done"
