"""Real work in a real worker, killed or stopped in its middle: the server lives, and the row says what happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import psutil
import pytest

from core.jobs import queue
from core.jobs.supervisor import Supervisor
from core.store.rows import JobRow
from core.store.workspace import Workspace
from core.tasks.command import child_command
from tests.jobs.workers import await_true, is_gone

TIMEOUT_S = 120.0
LONG_RUNS = 500_000
SHORT_RUNS = 10

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
small (float[batch, 64] x) => (float[batch, 64] z)
{
  y = MatMul (x, w)
  z = Relu (y)
}
"""

SERVER = """
import sys, time
from pathlib import Path
from core.jobs.supervisor import Supervisor
from core.store.workspace import Workspace
from core.tasks.command import child_command
workspace = Workspace.open(Path(sys.argv[1]))
with Supervisor(workspace, child_command(workspace.path), machine_lock=workspace.path / "machine.lock"):
    time.sleep(300)
"""


@pytest.fixture
def workspace(workspace_path: Path) -> Iterator[Workspace]:
    with Workspace.open(workspace_path) as workspace:
        yield workspace


@pytest.fixture
def model(workspace: Workspace) -> str:
    """A small model in the workspace's files; its data are made up."""
    made = onnx.parser.parse_model(MODEL)
    weights = [i % 7 - 3.0 for i in range(64 * 64)]
    made.graph.initializer.append(onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, (64, 64), weights))
    return workspace.files.put(made.SerializeToString())


Submit = Callable[[int], str]


@pytest.fixture
def submit(workspace: Workspace, model: str) -> Submit:
    """Queues a profile of that many runs."""
    params = {"model": model, "data": None, "shapes": {"x": [1, 64]}, "model_name": "small"}
    return lambda runs: queue.submit(workspace, "profile", {**params, "runs": runs}, title="Profile small")


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Supervisor]:
    lock = workspace.path / "machine.lock"
    with Supervisor(workspace, child_command(workspace.path), machine_lock=lock) as supervisor:
        yield supervisor


def in_the_middle(workspace: Workspace, job_id: str) -> JobRow:
    """The job once its runs are under way."""
    await_true(
        lambda: queue.job(workspace, job_id).is_final or queue.job(workspace, job_id).what.startswith("run "),
        timeout_s=TIMEOUT_S,
    )
    row = queue.job(workspace, job_id)
    assert row.state == "running", row.error
    return row


def ended(workspace: Workspace, job_id: str) -> JobRow:
    return queue.wait(workspace, job_id, poll_s=0.05, timeout_s=TIMEOUT_S)


def family(row: JobRow) -> list[int]:
    """All processes of a job."""
    leader = psutil.Process(row.pid)
    return [leader.pid, *(process.pid for process in leader.children(recursive=True))]


def runners(row: JobRow) -> list[int]:
    """The processes in which a job times models."""
    if row.pid is None:
        return []
    try:
        found = psutil.Process(row.pid).children(recursive=True)
        return [process.pid for process in found if "core.measure.runner" in process.cmdline()]
    except psutil.Error:  # one of them ended meanwhile: ask again
        return []


@pytest.mark.usefixtures("server")
def test_a_worker_killed_in_the_middle_is_told_and_the_server_takes_the_next_job(
    workspace: Workspace, submit: Submit
) -> None:
    row = in_the_middle(workspace, submit(LONG_RUNS))
    worker = family(row)[-1]
    os.kill(worker, signal.SIGKILL)
    row = ended(workspace, row.id)
    assert row.state == "crashed"
    assert row.error is not None
    assert "killed by signal 9 (SIGKILL)" in row.error["message"]
    assert "Resume it: what was finished is kept" in row.error["hint"]
    again = ended(workspace, submit(SHORT_RUNS))
    assert (again.state, again.error) == ("done", None)
    assert again.result is not None
    assert [layer["id"] for layer in again.result["layers"]]


@pytest.mark.usefixtures("server")
def test_real_work_stops_when_asked_and_leaves_nothing(workspace: Workspace, submit: Submit) -> None:
    row = in_the_middle(workspace, submit(LONG_RUNS))
    processes = family(row)
    queue.stop(workspace, row.id)
    row = ended(workspace, row.id)
    assert row.state == "stopped"
    await_true(lambda: all(is_gone(pid) for pid in processes))
    await_true(lambda: not list((workspace.path / "scratch").iterdir()))


def test_a_killed_server_takes_real_work_along_and_it_can_be_started_again(
    workspace: Workspace, submit: Submit, request: pytest.FixtureRequest
) -> None:
    server = subprocess.Popen([sys.executable, "-c", SERVER, str(workspace.path)])
    row = in_the_middle(workspace, submit(LONG_RUNS))
    waiting = submit(SHORT_RUNS)
    processes = family(row)
    server.kill()
    server.wait()
    await_true(lambda: all(is_gone(pid) for pid in processes))
    request.getfixturevalue("server")
    row = queue.job(workspace, row.id)
    assert row.state == "interrupted"
    assert row.error is not None
    assert "ended before the job did" in row.error["message"]
    assert ended(workspace, waiting).state == "done"


@pytest.mark.usefixtures("server")
def test_a_measuring_process_killed_in_the_middle_fails_its_job_and_says_so(workspace: Workspace, model: str) -> None:
    params = {"model": model, "candidate_file": model, "data": None, "shapes": {"x": [1, 64]}, "time_budget_s": 60}
    job_id = queue.submit(workspace, "compare", params, title="Compare small")
    await_true(lambda: runners(queue.job(workspace, job_id)), timeout_s=TIMEOUT_S)
    os.kill(runners(queue.job(workspace, job_id))[0], signal.SIGKILL)
    row = ended(workspace, job_id)
    assert (row.state, (row.error or {}).get("kind")) == ("failed", "crashed"), row.error
    assert row.error is not None
    assert "died" in row.error["message"]
    assert "SIGKILL" in row.error["message"]


@pytest.mark.usefixtures("server")
def test_a_file_that_is_no_model_fails_with_one_line(workspace: Workspace) -> None:
    sha256 = workspace.files.put(b"no model at all")
    row = ended(workspace, queue.submit(workspace, "profile", {"model": sha256, "model_name": "notes.txt"}))
    assert row.state == "failed"
    assert row.error is not None
    assert row.error["kind"] == "model"
    assert "\n" not in row.error["message"]
