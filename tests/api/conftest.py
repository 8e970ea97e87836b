"""Fixtures of the Python face's tests: a small network, and jobs that run in this process or are only noted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.capability.grid import CapabilityGrid
from core.progress import Silent
from core.store.rows import JobRow
from core.store.workspace import Workspace
from core.tasks import capability, running
from core.tasks.registry import run_task

NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
network (float[batch, 3, 8, 8] x) => (float[batch, 4] y)
<float[8, 3, 3, 3] w, float[4, 8] v>
{
    [conv] c = Conv <pads = [1, 1, 1, 1]> (x, w)
    [relu] r = Relu (c)
    [pool] p = GlobalAveragePool (r)
    [flat] f = Flatten (p)
    [head] y = Gemm <transB = 1> (f, v)
}
"""


@pytest.fixture(scope="session")
def network() -> onnx.ModelProto:
    """A convolution and a linear layer; weights drawn by chance."""
    generator = np.random.default_rng(0)
    model = onnx.parser.parse_model(NETWORK)
    del model.graph.initializer[:]
    for name, size in {"w": (8, 3, 3, 3), "v": (4, 8)}.items():
        array = generator.normal(0, 0.3, size).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


@pytest.fixture(scope="session")
def arrays() -> dict[str, Any]:
    """24 samples with labels and splits."""
    x = np.random.default_rng(1).normal(size=(24, 3, 8, 8)).astype(np.float32)
    return {"x": x, "__label__": np.arange(24) % 4, "__split__": np.arange(24) % 3}


@dataclass
class Noted:
    """Jobs that were asked for, each answered with `result`."""

    result: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any], str]] = field(default_factory=list)

    @property
    def params(self) -> dict[str, Any]:
        """Those of the only job."""
        assert len(self.asked) == 1
        return self.asked[0][1]


OnChange = Callable[[JobRow], None]


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch, workspace_path: Path) -> Noted:
    """Replaces the running of jobs on an empty workspace."""
    jobs = Noted({"candidate": "abcdef", "name": "a name", "conditions": {}})

    def run_job(
        workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str, on_change: OnChange | None = None
    ) -> dict[str, Any]:
        jobs.asked.append((kind, dict(params), title))
        return dict(jobs.result)

    monkeypatch.setattr(running, "run_job", run_job)
    return jobs


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, workspace_path: Path) -> Path:
    """Runs jobs in this process, on a machine that was not asked what it executes; returns the workspace's folder."""

    def run_job(
        workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str, on_change: OnChange | None = None
    ) -> dict[str, Any]:
        return run_task(workspace, kind, params, Silent())

    monkeypatch.setattr(running, "run_job", run_job)
    monkeypatch.setattr(capability, "probe", lambda *arguments, **options: CapabilityGrid((), saturates=True))
    return workspace_path
