"""`mixdesk optimize` passes the target on, writes the result whatever the target's fate, and tells it by its status."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal


@pytest.mark.parametrize(("met", "status"), [(True, 0), (False, 1), (None, 0)])
def test_the_result_is_written_and_the_status_tells_of_the_target(
    *, mixdesk: Terminal, noted: NotedJobs, tiny: Path, tmp_path: Path, met: bool | None, status: int
) -> None:
    noted.result = {
        "file": hashlib.sha256(tiny.read_bytes()).hexdigest(),
        "target": None if met is None else {"met": met},
    }
    out = tmp_path / "out.onnx"
    arguments = ("--target", "accuracy>=99%", "--time-budget", "7", "--pin", "a=fp32", "-o", str(out), "--json")
    answer = mixdesk("optimize", str(tiny), *arguments)
    assert answer.status == status
    assert answer.document["output"] == str(out)
    assert out.read_bytes() == tiny.read_bytes()
    kind, params = noted.asked[0]
    assert kind == "optimize"
    assert (params["target"], params["time_budget_s"], params["pins"]) == ("accuracy>=99%", 7.0, {"a": "fp32"})


def test_defaults_may_be_said(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    said = ("--precision", "mixed", "--objective", "latency", "--cache", "none", "--json")
    assert mixdesk("optimize", str(tiny), *said).status == 0
    assert "time_budget_s" not in noted.params
