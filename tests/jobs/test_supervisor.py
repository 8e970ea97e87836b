"""Jobs in child processes: how each kind of ending is told, and that nothing survives that should not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.jobs import lane as lane_module
from core.jobs import queue
from core.jobs.supervisor import Supervisor
from core.store.rows import JobRow
from core.store.tables import JOBS
from core.store.workspace import Workspace
from tests.jobs.workers import await_true, command, is_gone, log_of, supervised

TIMEOUT_S = 60.0


@pytest.fixture
def workspace(workspace_path: Path) -> Iterator[Workspace]:
    with Workspace.open(workspace_path) as workspace:
        yield workspace


def ended(workspace: Workspace, job_id: str) -> JobRow:
    return queue.wait(workspace, job_id, poll_s=0.02, timeout_s=TIMEOUT_S)


def ended_by_itself(workspace: Workspace, kind: str) -> JobRow:
    """Runs one job of this kind to its end."""
    job_id = queue.submit(workspace, kind, {}, title=f"Try {kind}")
    with supervised(workspace):
        return ended(workspace, job_id)


def started(workspace: Workspace, kind: str) -> JobRow:
    """Queues a job and waits until its worker runs and has said something, where it does."""
    job_id = queue.submit(workspace, kind, {}, title=f"Try {kind}")
    await_true(lambda: queue.job(workspace, job_id).pid)
    row = queue.job(workspace, job_id)
    if kind in ("deaf", "family", "publish", "scratch"):
        await_true(lambda: log_of(workspace, row))
    return row


def sentence(row: JobRow) -> str:
    assert row.error is not None
    return f"{row.error['message']} {row.error['hint']}"


# endings that a worker chooses


def test_a_stored_result_makes_the_job_done(workspace: Workspace) -> None:
    row = ended_by_itself(workspace, "finish")
    assert (row.state, row.result, row.error) == ("done", {"value": None}, None)
    assert row.started_at is not None
    assert row.finished_at is not None


def test_a_stored_error_makes_the_job_failed(workspace: Workspace) -> None:
    row = ended_by_itself(workspace, "fail")
    assert (row.state, row.error) == ("failed", {"kind": "model", "message": "No model."})


# endings that it does not choose


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("silent", "The worker ended with status 0 and stored neither a result nor an error."),
        ("error", "The worker ended with status 1 and stored neither a result nor an error."),
        ("abort", "The worker was killed by signal 6 (SIGABRT): a fault in a native library"),
    ],
)
def test_a_worker_that_ends_without_a_word_has_crashed(workspace: Workspace, kind: str, told: str) -> None:
    row = ended_by_itself(workspace, kind)
    assert row.state == "crashed"
    assert row.error is not None
    assert row.error["kind"] == "crashed"
    assert told in row.error["message"]
    assert row.log in row.error["hint"]


def test_what_a_worker_prints_is_in_its_log(workspace: Workspace) -> None:
    assert log_of(workspace, ended_by_itself(workspace, "silent")) == "a last word\n"
    assert "ValueError: no" in log_of(workspace, ended_by_itself(workspace, "error"))


@pytest.mark.parametrize("whom", ["leader", "worker"])
def test_a_killed_worker_is_told_with_its_signal_and_its_partial_results_stay(workspace: Workspace, whom: str) -> None:
    with supervised(workspace):
        row = started(workspace, "report")
        await_true(lambda: queue.partials(workspace, row.id))
        assert row.pid is not None
        (worker,) = psutil.Process(row.pid).children()
        os.kill(row.pid if whom == "leader" else worker.pid, signal.SIGKILL)
        row = ended(workspace, row.id)
        assert row.state == "crashed"
        assert "killed by signal 9 (SIGKILL): the machine ran out of memory, or somebody killed it" in sentence(row)
        assert "Resume it: what was finished is kept" in sentence(row)
        assert [part.value for part in queue.partials(workspace, row.id)] == [{"ms": 1.5}]
        await_true(lambda: is_gone(worker.pid))
        assert ended(workspace, queue.submit(workspace, "finish", {})).state == "done"


def test_what_a_killed_worker_left_in_temporary_files_is_removed(workspace: Workspace) -> None:
    with supervised(workspace):
        row = started(workspace, "scratch")
        left = Path(log_of(workspace, row).strip())
        assert left.is_dir()
        assert left.is_relative_to(workspace.path)
        os.kill(row.pid or 0, signal.SIGKILL)
        ended(workspace, row.id)
        await_true(lambda: not left.exists())


def test_a_command_that_cannot_be_started_is_told(workspace: Workspace) -> None:
    job_id = queue.submit(workspace, "finish", {})
    (workspace.logs / queue.job(workspace, job_id).log).mkdir()
    with supervised(workspace):
        row = ended(workspace, job_id)
    assert row.state == "crashed"
    assert "could not be started: Is a directory" in sentence(row)


def test_a_program_that_is_not_there_is_told_in_the_log(workspace: Workspace, tmp_path: Path) -> None:
    job_id = queue.submit(workspace, "any", {})
    with Supervisor(workspace, lambda row: ["/nowhere/program"], machine_lock=tmp_path / "lock"):
        row = ended(workspace, job_id)
    assert "status 127" in sentence(row)
    assert "/nowhere/program cannot be started: No such file or directory" in log_of(workspace, row)


def test_a_worker_that_takes_too_much_memory_is_ended(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_module, "MEMORY_CHECK_S", 0.05)
    job_id = queue.submit(workspace, "hungry", {})
    with supervised(workspace, memory_bytes=100 * 2**20):
        row = ended(workspace, job_id)
    assert row.state == "crashed"
    assert "more than the 100 MiB that a job may use here" in sentence(row)


def test_a_worker_that_does_not_go_after_its_result_is_ended(workspace: Workspace) -> None:
    with supervised(workspace, grace_s=0.2):
        row = started(workspace, "linger")
        assert ended(workspace, row.id).state == "done"
        assert row.pid is not None
        await_true(lambda: is_gone(row.pid or 0))
        assert ended(workspace, queue.submit(workspace, "finish", {})).state == "done"


# stop


@pytest.mark.parametrize("kind", ["sleep", "deaf", "report"])
def test_a_stopped_job_ends_even_if_it_does_not_listen(workspace: Workspace, kind: str) -> None:
    with supervised(workspace, grace_s=0.3):
        row = started(workspace, kind)
        queue.stop(workspace, row.id)
        row = ended(workspace, row.id)
        assert row.state == "stopped"
        assert row.error is not None
        assert row.error["kind"] == "stopped"
        await_true(lambda: is_gone(row.pid or 0))


def test_what_a_worker_published_just_before_its_stop_is_kept(workspace: Workspace) -> None:
    with supervised(workspace):
        row = started(workspace, "publish")
        queue.stop(workspace, row.id)
        assert ended(workspace, row.id).state == "stopped"
    assert [part.value for part in queue.partials(workspace, row.id)] == [{"number": 1}]


def test_a_stop_takes_the_workers_own_children_along(workspace: Workspace) -> None:
    with supervised(workspace, grace_s=0.3):
        row = started(workspace, "family")
        grandchild = int(log_of(workspace, row))
        queue.stop(workspace, row.id)
        ended(workspace, row.id)
        await_true(lambda: is_gone(grandchild))


# one at a time


def test_timed_jobs_run_one_after_the_other_and_the_queue_says_so(workspace: Workspace) -> None:
    with supervised(workspace):
        first = started(workspace, "sleep")
        second, third = (queue.submit(workspace, "finish", {}) for _ in range(2))
        await_true(lambda: queue.job(workspace, third).what)
        here = f"'Try sleep' (process {os.getpid()})"
        assert queue.job(workspace, second).what == f"Waits for {here}"
        assert queue.job(workspace, third).what == f"Waits for {here} and 1 more before it"
        assert queue.job(workspace, second).state == "queued"
        queue.stop(workspace, first.id)
        rows = [ended(workspace, job_id) for job_id in (first.id, second, third)]
    assert [row.state for row in rows] == ["stopped", "done", "done"]
    assert [row.what for row in rows] == ["", "", ""]
    assert rows[0].finished_at is not None
    assert rows[1].started_at is not None
    assert rows[1].started_at >= rows[0].finished_at


def test_a_job_that_times_nothing_runs_beside_a_timed_one(workspace: Workspace) -> None:
    with supervised(workspace):
        timed = started(workspace, "sleep")
        beside = ended(workspace, queue.submit(workspace, "inspect", {}))
        assert beside.state == "done"
        assert queue.job(workspace, timed.id).state == "running"


def test_supervisors_of_two_workspaces_take_turns_on_one_machine(workspace: Workspace, tmp_path: Path) -> None:
    lock = workspace.path / "machine.lock"
    with (
        Workspace.open(tmp_path / "other") as other,
        supervised(workspace),
        Supervisor(other, command(other), machine_lock=lock),
    ):
        first = started(workspace, "sleep")
        second = queue.submit(other, "finish", {})
        await_true(lambda: queue.job(other, second).what)
        told = f"Another Mixdesk on this machine is measuring (process {os.getpid()})"
        assert queue.job(other, second).what == told
        queue.stop(workspace, first.id)
        assert ended(other, second).state == "done"


def test_a_supervisor_for_one_job_leaves_the_others_alone(workspace: Workspace, tmp_path: Path) -> None:
    other, mine = (queue.submit(workspace, "finish", {}) for _ in range(2))
    with Supervisor(workspace, command(workspace), only=mine, machine_lock=tmp_path / "lock"):
        assert ended(workspace, mine).state == "done"
    assert queue.job(workspace, other).state == "queued"


# supervisors come and go


def test_closing_interrupts_the_running_job_and_keeps_the_queue(workspace: Workspace) -> None:
    with supervised(workspace):
        row = started(workspace, "publish")
        waiting = queue.submit(workspace, "finish", {})
    row = queue.job(workspace, row.id)
    assert row.state == "interrupted"
    assert [part.value for part in queue.partials(workspace, row.id)] == [{"number": 1}]
    assert "Mixdesk was closed while this job ran" in sentence(row)
    await_true(lambda: is_gone(row.pid or 0))
    with supervised(workspace):
        assert ended(workspace, waiting).state == "done"


SERVER = """
import sys, time
from pathlib import Path
from core.store.tables import JOBS
from core.store.workspace import Workspace
from tests.jobs.workers import supervised
with Workspace.open(Path(sys.argv[1])) as workspace, supervised(workspace):
    time.sleep(120)
"""


def test_a_killed_server_takes_its_worker_along_and_the_next_one_tells(workspace: Workspace) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(workspace.path)])
    row = started(workspace, "family")
    grandchild = int(log_of(workspace, row))
    server.kill()
    server.wait()
    await_true(lambda: is_gone(row.pid or 0) and is_gone(grandchild))
    assert queue.job(workspace, row.id).state == "running"
    with supervised(workspace):
        row = queue.job(workspace, row.id)
        assert row.state == "interrupted"
        assert "The program that ran this job ended before the job did" in sentence(row)
        assert not list((workspace.path / "scratch").iterdir())
        assert ended(workspace, queue.submit(workspace, "finish", {})).state == "done"


def test_a_supervisor_survives_a_fault_of_its_own(
    workspace: Workspace, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faults = [KeyError("a mistake of ours")]

    def sometimes(row: JobRow) -> list[str]:
        if faults:
            raise faults.pop()
        return command(workspace)(row)

    broken, fine = (queue.submit(workspace, "finish", {}) for _ in range(2))
    with Supervisor(workspace, sometimes, machine_lock=tmp_path / "lock"):
        assert ended(workspace, fine).state == "done"
    assert "a mistake of ours" in caplog.text
    assert queue.job(workspace, broken).state == "crashed"


def test_a_job_removed_under_its_worker_ends_the_worker(workspace: Workspace) -> None:
    with supervised(workspace, grace_s=0.3):
        row = started(workspace, "sleep")
        with workspace.database.writing() as connection:
            connection.execute(JOBS.delete().where(JOBS.c.id == row.id))
        await_true(lambda: is_gone(row.pid or 0))
        assert ended(workspace, queue.submit(workspace, "finish", {})).state == "done"
