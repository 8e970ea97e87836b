"""A worker whose work crashes lives on to say on which layer, and then ends as the work did."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.jobs import queue
from core.store.workspace import Workspace
from core.tasks.guard import explain
from tests import bad_runs
from tests.intake.texts import to_bytes

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import os, signal, sys
from pathlib import Path
from core.tasks.guard import guarded
sys.exit(guarded(lambda: {work}, Path(sys.argv[1]), "none"))
"""


def run(workspace_path: Path, work: str) -> int:
    command = [sys.executable, "-c", SCRIPT.format(work=work), str(workspace_path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False).returncode


def submit(store: Workspace, kind: str, model: bytes, **params: Any) -> str:
    asked = {"model": store.files.put(model), "model_name": "m", "threads": 1, "batch": 1, "seed": 0}
    return queue.submit(store, kind, {**asked, **params}, title=f"{kind} m")


@pytest.fixture
def store(workspace_path: Path) -> Workspace:
    return Workspace.open(workspace_path)


def test_it_ends_as_the_work_did(workspace_path: Path) -> None:
    assert run(workspace_path, "0") == 0
    assert run(workspace_path, "3") == 3
    assert run(workspace_path, "os.kill(os.getpid(), signal.SIGKILL)") == -signal.SIGKILL
    assert run(workspace_path, "os.kill(os.getpid(), signal.SIGSEGV)") == -signal.SIGSEGV


def test_a_job_that_crashed_tells_its_layer(store: Workspace) -> None:
    job_id = submit(store, "build", bad_runs.bad_run(bad_runs.CRASH))
    error = explain(store, job_id)
    assert error is not None
    row = queue.job(store, job_id)
    assert row.state == "crashed"
    assert row.error is not None
    assert (row.error["kind"], row.error["layer"]) == ("crashed", "divide")
    assert row.error["message"] == "The runtime crashed (SIGFPE) in layer 'divide' (Div)."


def test_a_model_that_does_not_crash_again_is_not_blamed(store: Workspace) -> None:
    fine = submit(store, "profile", to_bytes("g (float[4] x) => (float[4] y) { y = Relu (x) }"))
    failing = submit(store, "profile", bad_runs.bad_run(bad_runs.FAILING_IN_LOOP))
    for job_id in (fine, failing):
        assert explain(store, job_id) is None
        assert queue.job(store, job_id).state == "queued"


def test_work_that_runs_no_model_and_jobs_that_have_ended_are_left_alone(store: Workspace) -> None:
    machine = queue.submit(store, "machine", {"threads": 1}, title="Probe")
    assert explain(store, machine) is None
    stopped = submit(store, "build", bad_runs.bad_run(bad_runs.CRASH))
    queue.stop(store, stopped)
    assert explain(store, stopped) is None
    assert queue.job(store, stopped).state == "stopped"
