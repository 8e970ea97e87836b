"""`mixdesk jobs` lists, shows, stops and cleans what a workspace has done."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.jobs import queue
from core.jobs.outcome import fail, finish
from core.store.workspace import Workspace
from tests.cli.running import Terminal


@pytest.fixture
def store(workspace_path: Path) -> Workspace:
    """The workspace that the commands work on."""
    return Workspace.open(workspace_path)


@pytest.fixture
def done(store: Workspace) -> str:
    """The id of a job that is done."""
    job_id = queue.submit(store, "inspect", {"threads": 1}, title="Inspect tiny")
    finish(store, job_id, {"answer": 42})
    return job_id


@pytest.mark.parametrize("arguments", [("jobs",), ("jobs", "list")])
def test_jobs_are_listed_newest_first(
    mixdesk: Terminal, store: Workspace, done: str, arguments: tuple[str, ...]
) -> None:
    newer = queue.submit(store, "profile", {}, title="Profile [b]tiny")
    listed = mixdesk(*arguments, "--json").document["jobs"]
    assert [job["id"] for job in listed] == [newer, done]
    assert [job["state"] for job in listed] == ["queued", "done"]
    assert "Profile [b]tiny" in mixdesk(*arguments).out


def test_no_jobs_yet_is_said(mixdesk: Terminal) -> None:
    assert mixdesk("jobs").out == "No jobs yet.\n"


def test_one_job_is_shown_with_its_result(mixdesk: Terminal, done: str) -> None:
    job = mixdesk("jobs", "show", done[:8], "--json").document["job"]
    assert (job["id"], job["result"], job["params"]) == (done, {"answer": 42}, {"threads": 1})
    assert "Inspect tiny" in mixdesk("jobs", "show", done).out


def test_an_error_is_shown(mixdesk: Terminal, store: Workspace) -> None:
    job_id = queue.submit(store, "inspect", {}, title="Inspect tiny")
    fail(store, job_id, {"kind": "data", "message": "NaN in 'x'.", "hint": "Look.", "layer": None})
    assert "error: NaN in 'x'." in mixdesk("jobs", "show", job_id).out
    assert "NaN in 'x'." in mixdesk("jobs").out


def test_a_waiting_job_is_stopped(mixdesk: Terminal, store: Workspace) -> None:
    job_id = queue.submit(store, "profile", {}, title="Profile tiny")
    assert mixdesk("jobs", "stop", job_id, "--json").document["job"]["state"] == "stopped"
    assert queue.job(store, job_id).state == "stopped"


@pytest.mark.parametrize("what", ["show", "stop"])
def test_an_unknown_job_is_status_2(mixdesk: Terminal, done: str, what: str) -> None:
    answer = mixdesk("jobs", what, "ffffffffffff", "--json")
    assert (answer.status, answer.error["kind"]) == (2, "not-found")


def test_clean_forgets_ended_jobs_only(mixdesk: Terminal, store: Workspace, done: str) -> None:
    waiting = queue.submit(store, "profile", {}, title="Profile tiny")
    assert mixdesk("jobs", "clean", "--json").document["removed"] == 1
    assert [row.id for row in queue.jobs(store)] == [waiting]


def test_another_workspace_has_other_jobs(mixdesk: Terminal, done: str, tmp_path: Path) -> None:
    assert mixdesk("jobs", "--workspace", str(tmp_path / "other"), "--json").document["jobs"] == []


def test_a_workspace_that_cannot_be_is_status_2(mixdesk: Terminal, tiny: Path) -> None:
    answer = mixdesk("jobs", "--workspace", str(tiny), "--json")
    assert answer.status == 2
    assert "workspace" in answer.error["message"]
