"""Fixtures of the command line's tests: a terminal, and jobs that are noted instead of run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.cli import work
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.registry import KINDS, run_task
from tests.cli.running import Terminal
from tests.intake.sources import pixels, png, write_folder

TINY = """
<ir_version: 8, opset_import: ["" : 17]>
tiny (float[batch, 3] x) => (float[batch, 2] y)
<float[3, 2] w = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>
{ y = MatMul (x, w) }
"""

INT8 = {"version": 1, "rules": [{"match": "*", "precision": "int8"}]}


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


@pytest.fixture(scope="session")
def documents(
    tmp_path_factory: pytest.TempPathFactory, digits_model: Path, digits_data: Path
) -> dict[str, dict[str, Any]]:
    """One real document of every kind of work, on digits-cnn."""
    folder = tmp_path_factory.mktemp("workspace")
    store = Workspace.open(folder)
    data = _few_samples(digits_data, folder / "few.npz")
    subject = {"model": store.files.put(digits_model), "data": store.files.put(data, suffix=".npz")}
    digit = write_folder(
        folder / "images", {f"{number}_a.png": png(pixels(32, 32, seed=number)) for number in range(4)}
    )
    more: dict[str, dict[str, Any]] = {
        "bring": {"files": [{"name": "digits.onnx", "sha256": subject["model"]}]},
        "convert": {"data": None, "source_path": str(digit)},
        "profile": {"runs": 5},
        "sweep": {"sweep_threads": [1], "sweep_batches": [1, 2], "limit_ms": 60_000},
        "build": {"recipe": INT8, "time_budget_s": 0.5, "target": "sqnr>=1"},
        "optimize": {"time_budget_s": 2, "target": "sqnr>=1"},
        "compare": {"candidate_file": subject["model"], "time_budget_s": 0.5, "target": "sqnr>=1"},
    }
    found: dict[str, dict[str, Any]] = {}
    for kind in KINDS:
        found[kind] = run_task(store, kind, {**subject, **more.get(kind, {}), **_made_before(found)}, Silent())
    return found


def _made_before(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What later kinds of work need from earlier ones: `bundle` a candidate, `verify` a bundle."""
    made = {"candidate": found.get("build", {}).get("candidate"), "bundle": found.get("bundle", {}).get("file")}
    return {name: value for name, value in made.items() if value is not None} | (
        {"time_budget_s": 0.5, "data": None} if "bundle" in found else {}
    )


def _few_samples(data: Path, out: Path) -> Path:
    """A few samples of each split: what is measured does not matter here."""
    with np.load(data) as arrays:
        rows = np.concatenate([np.flatnonzero(arrays["__split__"] == split)[:12] for split in (0, 1, 2)])
        np.savez(out, **{name: arrays[name][rows] for name in arrays.files})
    return out
