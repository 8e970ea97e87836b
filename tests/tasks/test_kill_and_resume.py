"""A server that is killed twice in the middle of a search: what comes out is what an undisturbed one gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.capability.grid import CapabilityGrid
from core.jobs import queue
from core.runtime.settings import SessionSettings
from core.store.rows import JobRow
from core.store.workspace import Workspace
from core.tasks.capability import cache_key
from tests.jobs.test_robustness import SERVER
from tests.jobs.workers import await_true

pytestmark = pytest.mark.xdist_group("timing")

TIMEOUT_S = 300.0
TEXT = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 64, 28, 28] x) => (float[1, 10] y)
{
    [one] a = Conv <pads = [1, 1, 1, 1]> (x, u)
    [relu] b = Relu (a)
    [two] c = Conv <pads = [1, 1, 1, 1]> (b, v)
    [pool] p = GlobalAveragePool (c)
    [flat] f = Flatten (p)
    [head] y = Gemm (f, w)
}
"""


def _model() -> bytes:
    generator = np.random.default_rng(0)
    model = onnx.parser.parse_model(TEXT)
    for name, size in {"u": (64, 64, 3, 3), "v": (64, 64, 3, 3), "w": (64, 10)}.items():
        array = generator.normal(0, 0.05, size).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return bytes(model.SerializeToString())


def _submit(workspace: Workspace) -> str:
    grid = CapabilityGrid((), saturates=True)  # as if this machine had been probed: that takes its time
    workspace.cache_put(cache_key(SessionSettings()), grid.to_dict())
    params = {"model": workspace.files.put(_model()), "model_name": "small", "target": "sqnr>=5", "time_budget_s": 8}
    return queue.submit(workspace, "optimize", params, title="Optimize small")


@contextmanager
def _server(workspace: Workspace) -> Iterator[None]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SERVER, str(workspace.path)]
    process = subprocess.Popen(command, start_new_session=True, env=environment)
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _until(workspace: Workspace, job_id: str, seen: Callable[[JobRow], bool]) -> JobRow:
    await_true(lambda: (row := queue.job(workspace, job_id)).is_final or seen(row), timeout_s=TIMEOUT_S)
    return queue.job(workspace, job_id)


def _resumed(workspace: Workspace, job_id: str) -> str:
    _until(workspace, job_id, lambda row: row.state == "interrupted")
    return queue.resume(workspace, job_id)


def test_a_search_whose_server_was_killed_twice_ends_as_if_it_had_not(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "calm") as calm, _server(calm):
        undisturbed = queue.wait(calm, _submit(calm), poll_s=0.1, timeout_s=TIMEOUT_S)
    with Workspace.open(tmp_path / "killed") as killed:
        job_id = _submit(killed)
        with _server(killed):
            row = _until(killed, job_id, lambda _: any(one.kind == "solo" for one in queue.partials(killed, job_id)))
            assert row.state == "running", row.error
        with _server(killed):
            job_id = _resumed(killed, job_id)
            _until(killed, job_id, lambda row: row.phase in {"Timing", "Compare the answers", "Time in pairs"})
        with _server(killed):
            job_id = _resumed(killed, job_id)
            ended = queue.wait(killed, job_id, poll_s=0.1, timeout_s=TIMEOUT_S)
    _compare(undisturbed.result, ended.result)


def _compare(calm: Any, killed: Any) -> None:
    assert calm is not None
    assert killed is not None
    for part in ("sensitivity", "evaluations"):
        assert killed[part] == calm[part]
    assert killed["units"]["key"] == calm["units"]["key"]
    assert killed["units"]["reused"] >= 5, "ranges, run time, original outputs, everything, a group alone"
    assert killed["units"]["computed"] < calm["units"]["computed"]
    if any("too busy" in document["why"] for document in (calm, killed)):
        pytest.skip("this machine was too busy to tell which of two models is faster")
    for part in ("recipe", "plan", "file", "fidelity"):
        assert killed[part] == calm[part], f"{calm['why']} / {killed['why']}"
