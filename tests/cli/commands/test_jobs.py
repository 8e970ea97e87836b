"""`mixdesk jobs` lists, shows, stops and cleans what a workspace has done."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.jobs import queue
from core.jobs.outcome import fail, finish
from core.store.rows import now
from core.store.tables import PARTIALS
from core.store.workspace import Workspace
from tests.cli.running import Terminal
from tests.contracts.jobs import built_by


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


# filters


@pytest.fixture
def mixed(store: Workspace) -> dict[str, str]:
    """One job of each: an optimize on model "a", stopped; a profile on "a", waiting; an inspect on "b", done."""
    store.add_model("a", "a1" * 32, 1)
    store.add_model("b", "b1" * 32, 1)
    stopped = queue.submit(store, "optimize", {"model": "a1" * 32, "model_name": "a"}, title="Optimize a")
    queue.stop(store, stopped)
    waiting = queue.submit(store, "profile", {"model": "a1" * 32, "model_name": "a"}, title="Profile a")
    done = queue.submit(store, "inspect", {"model": "b1" * 32, "model_name": "b"}, title="Inspect b")
    finish(store, done, {})
    return {"stopped": stopped, "waiting": waiting, "done": done}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--state", "done"), ["done"]),
        (("--state", "queued", "--state", "stopped"), ["waiting", "stopped"]),
        (("--kind", "optimize"), ["stopped"]),
        (("--model", "a"), ["waiting", "stopped"]),
        (("--model", "b1b1b1"), ["done"]),
        (("--model", "a", "--state", "stopped", "--kind", "optimize"), ["stopped"]),
        (("--limit", "1"), ["done"]),
    ],
)
def test_jobs_are_chosen(
    mixdesk: Terminal, mixed: dict[str, str], arguments: tuple[str, ...], found: list[str]
) -> None:
    listed = mixdesk("jobs", "list", *arguments, "--json").document["jobs"]
    assert [job["id"] for job in listed] == [mixed[name] for name in found]


@pytest.mark.usefixtures("mixed")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("list", "--state", "runing"), "Did you mean 'running'?"),
        (("list", "--kind", "optimise"), "Did you mean 'optimize'?"),
        (("list", "--model", "c"), "has no model 'c'."),
        (("clean", "--older-than", "soon"), "--older-than cannot be 'soon'."),
        (("clean", "--older-than", "9999999999w"), "longer than time can tell."),
    ],
)
def test_a_wrong_choice_is_status_2(mixdesk: Terminal, arguments: tuple[str, ...], says: str) -> None:
    answer = mixdesk("jobs", *arguments, "--json")
    assert answer.status == 2
    assert says in answer.error["message"]


# lineage, log, units


def test_a_job_is_shown_with_its_family_its_log_and_its_units(mixdesk: Terminal, store: Workspace) -> None:
    first = queue.submit(store, "optimize", {}, title="Optimize tiny")
    fail(store, first, {"kind": "work", "message": "no", "hint": None, "layer": None})
    again = queue.resume(store, first)
    finish(store, again, {"units": {"key": "abc", "computed": 2, "reused": 7}})
    (store.logs / f"{again}.log").write_text("\n".join(f"line {i}" for i in range(50)))
    job = mixdesk("jobs", "show", again[:4], "--json").document["job"]
    assert job["lineage"] == {"before": [{"id": first, "state": "failed"}], "after": [], "candidates": []}
    assert job["units"] == {"key": "abc", "computed": 2, "reused": 7}
    assert job["log_tail"].splitlines()[-1] == "line 49"
    told = mixdesk("jobs", "show", again).out
    assert f"{first} (failed)" in told
    assert "2 computed, 7 reused (key abc)" in told
    assert "line 49" in told
    assert f"{again} (done)" in mixdesk("jobs", "show", first).out


def test_a_job_that_was_cut_off_tells_the_units_that_are_kept(mixdesk: Terminal, store: Workspace) -> None:
    job_id = queue.submit(store, "optimize", {}, title="Optimize tiny")
    with store.database.writing() as connection:
        for seq, computed in enumerate((3, 13), 1):
            value = {"key": "abc", "computed": computed, "reused": 0}
            connection.execute(
                PARTIALS.insert().values(job_id=job_id, seq=seq, kind="units", value=value, created_at=now())
            )
    fail(store, job_id, {"kind": "crash", "message": "it died", "hint": None, "layer": None})
    assert mixdesk("jobs", "show", job_id, "--json").document["job"]["units"]["computed"] == 13


def test_stopping_what_has_ended_says_that_there_was_nothing_to_stop(mixdesk: Terminal, mixed: dict[str, str]) -> None:
    stopped = mixdesk("jobs", "stop", mixed["done"], "--json")
    assert (stopped.status, stopped.document["job"]["state"]) == (0, "done")
    assert "has ended already (done); there was nothing to stop" in stopped.err


# resume


def test_a_job_that_is_done_is_not_resumed(mixdesk: Terminal, mixed: dict[str, str]) -> None:
    refused = mixdesk("jobs", "resume", mixed["done"], "--json")
    assert refused.status == 2
    assert "is done; there is nothing to go on with" in refused.error["message"]


@pytest.fixture
def killed(store: Workspace, tiny: Path) -> str:
    """The id of a real job that was stopped before it had begun."""
    params = {"model": store.files.put(tiny), "model_name": "tiny", "data": None, "shapes": {"x": [1, 3]}}
    job_id = queue.submit(store, "inspect", params, title="Inspect tiny")
    queue.stop(store, job_id)
    return job_id


def test_a_resumed_job_runs_to_its_end_and_answers_as_its_command(
    mixdesk: Terminal, store: Workspace, killed: str
) -> None:
    answer = mixdesk("jobs", "resume", killed[:6], "--json")
    assert (answer.status, answer.document["model"]["name"]) == (0, "tiny")
    newest = queue.jobs(store)[0]
    assert (newest.resumes, newest.state, newest.kind) == (killed, "done", "inspect")
    assert "MatMul" in mixdesk("jobs", "resume", killed).out


def test_a_resumed_job_that_misses_its_target_is_status_1(
    mixdesk: Terminal, store: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = queue.submit(store, "compare", {"target": "speedup>=9x"}, title="Compare")
    queue.stop(store, job_id)
    monkeypatch.setattr("core.cli.work.show_job", lambda *_, **__: {"gate": {"met": False}})
    assert mixdesk("jobs", "resume", job_id, "--json").status == 1


def test_only_what_makes_a_model_can_write_one(mixdesk: Terminal, killed: str, tmp_path: Path) -> None:
    answer = mixdesk("jobs", "resume", killed, "-o", str(tmp_path / "out.onnx"), "--json")
    assert (answer.status, answer.error["message"]) == (2, "A job of kind inspect makes no model that -o could write.")


def test_the_model_of_a_resumed_job_is_written(
    mixdesk: Terminal, store: Workspace, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = queue.submit(store, "build", {}, title="Build tiny")
    queue.stop(store, job_id)
    file = store.files.put(tiny)
    monkeypatch.setattr("core.cli.work.show_job", lambda *_, **__: {"file": file, "comparison": None})
    out = tmp_path / "out.onnx"
    answer = mixdesk("jobs", "resume", job_id, "-o", str(out), "--json")
    assert (answer.status, answer.document["output"]) == (0, str(out))
    assert out.read_bytes() == tiny.read_bytes()


def test_a_job_that_runs_is_not_resumed(mixdesk: Terminal, mixed: dict[str, str]) -> None:
    answer = mixdesk("jobs", "resume", mixed["waiting"], "--json")
    assert (answer.status, answer.error["message"]) == (2, "The job 'Profile a' is still queued.")


# clean


def test_clean_takes_what_is_old_or_in_a_state(mixdesk: Terminal, store: Workspace, mixed: dict[str, str]) -> None:
    assert mixdesk("jobs", "clean", "--older-than", "1h", "--json").document["removed"] == 0
    assert mixdesk("jobs", "clean", "--state", "stopped").out.startswith("Forgot 1 ended job; ")
    assert {row.id for row in queue.jobs(store)} == {mixed["done"], mixed["waiting"]}


def test_clean_with_candidates_tells_what_it_freed_and_what_it_kept(mixdesk: Terminal, store: Workspace) -> None:
    ids = [queue.submit(store, "build", {}, title="Build") for _ in range(2)]
    built = [built_by(store, job_id) for job_id in ids]
    for job_id in ids:
        finish(store, job_id, {})
    queue.submit(store, "verify", {"candidate": built[0].id}, title="Verify it")
    document = mixdesk("jobs", "clean", "--candidates", "--json").document
    assert (document["removed"], document["candidates"], document["freed_bytes"]) == (1, 1, len(ids[1]))
    assert "needed by the job 'Verify it'" in document["kept"][0]
    assert "Kept: The candidate 'all int8' is needed" in mixdesk("jobs", "clean", "--candidates").out
