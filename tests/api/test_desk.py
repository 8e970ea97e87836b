"""A call opens the workspace it is told, and tells what its job does in few lines."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest

from core import convert_model
from core.api.desk import Lines, open_desk
from core.errors import RequestError
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace
from core.tasks import running
from tests.cli.test_display import ROW


def test_a_workspace_that_was_given_open_stays_open(workspace_path: Path) -> None:
    workspace = Workspace.open(workspace_path)
    with open_desk(workspace) as desk:
        assert desk.workspace is workspace
    assert workspace.models() == ()


def test_each_part_of_the_work_is_one_line_and_the_end_is_none() -> None:
    stream = io.StringIO()
    lines = Lines("Optimize", stream, clock=iter((0.0, 1.0, 2.0, 3.0, 4.0, 15.0, 16.0)).__next__)
    row = replace(ROW, state=JobState.RUNNING, phase="Mixes", what="", fraction=0.2)
    lines.show(row)
    lines.show(replace(row, fraction=0.3))
    lines.show(replace(row, phase="Timing", fraction=0.5))
    lines.show(replace(row, state=JobState.DONE, phase="Timing", fraction=1.0))
    assert stream.getvalue() == "Optimize: Mixes (20%)\nOptimize: Timing (50%)\n"


@pytest.mark.parametrize("watch", [True, False])
def test_progress_goes_to_standard_error_or_nowhere(
    *,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    workspace_path: Path,
    watch: bool,
    network: onnx.ModelProto,
) -> None:
    def run_job(*given: Any, on_change: Any, title: str) -> dict[str, Any]:
        if on_change is not None:
            on_change(replace(ROW, state=JobState.RUNNING, phase="Mixes", fraction=None))
        return {"candidate": "a", "name": "b"}

    monkeypatch.setattr(running, "run_job", run_job)
    convert_model(network, progress=watch)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert ("Mixes" in captured.err) is watch


def test_a_function_gets_the_rows(
    monkeypatch: pytest.MonkeyPatch, workspace_path: Path, network: onnx.ModelProto
) -> None:
    seen: list[JobRow] = []

    def run_job(*given: Any, on_change: Any, title: str) -> dict[str, Any]:
        on_change(ROW)
        return {"candidate": "a", "name": "b"}

    monkeypatch.setattr(running, "run_job", run_job)
    convert_model(network, progress=seen.append)
    assert seen == [ROW]


def test_progress_is_yes_no_or_a_function(workspace_path: Path, network: onnx.ModelProto) -> None:
    with pytest.raises(RequestError, match="progress= cannot be 3"):
        convert_model(network, progress=3)  # type: ignore[arg-type]
