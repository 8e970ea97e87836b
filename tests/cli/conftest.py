"""Fixtures of the command line's tests: a terminal, and jobs that are noted instead of run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import onnx
import pytest

from core.cli import work
from core.store.workspace import Workspace
from tests.cli.running import Terminal

TINY = """
<ir_version: 8, opset_import: ["" : 17]>
tiny (float[batch, 3] x) => (float[batch, 2] y)
<float[3, 2] w = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>
{ y = MatMul (x, w) }
"""


@pytest.fixture
def mixdesk(capsys: pytest.CaptureFixture[str], workspace_path: Path) -> Terminal:
    """Calls the command line in this process, on a workspace of its own."""
    return Terminal(capsys)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A model file with one MatMul."""
    path = tmp_path / "tiny.onnx"
    onnx.save(onnx.parser.parse_model(TINY), path)
    return path


@dataclass
class NotedJobs:
    """Jobs that were asked for; each is answered with `result`."""

    result: dict[str, Any] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    on_run: Callable[[Workspace], None] | None = None

    @property
    def params(self) -> dict[str, Any]:
        """Those of the only job."""
        assert len(self.asked) == 1
        return self.asked[0][1]


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> NotedJobs:
    """Replaces the running of jobs."""
    jobs = NotedJobs()

    def run_job(workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str) -> dict[str, Any]:
        assert title
        jobs.asked.append((kind, dict(params)))
        if jobs.on_run is not None:
            jobs.on_run(workspace)
        return dict(jobs.result)

    monkeypatch.setattr(work, "run_job", run_job)
    return jobs
