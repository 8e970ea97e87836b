"""`mixdesk compare A B` measures B against A with A's data; its gate decides the status."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal


@pytest.fixture
def other(tiny: Path, tmp_path: Path) -> Path:
    """A second model file."""
    path = tmp_path / "other.onnx"
    path.write_bytes(tiny.read_bytes() + b"")
    return path


@pytest.mark.parametrize("spelling", ["--target", "--gate"])
@pytest.mark.parametrize(("met", "status"), [(True, 0), (False, 1)])
def test_the_gate_decides_the_status(
    *, mixdesk: Terminal, noted: NotedJobs, tiny: Path, other: Path, spelling: str, met: bool, status: int
) -> None:
    noted.result = {"gate": {"text": "speedup>=2x", "met": met, "broken": None}}
    assert mixdesk("compare", str(tiny), str(other), spelling, "speedup>=2x", "--json").status == status
    assert noted.params["target"] == "speedup>=2x"
    assert noted.params["candidate_file"] == hashlib.sha256(other.read_bytes()).hexdigest()
    assert noted.params["candidate_name"] == "other"


def test_without_a_gate_it_is_done(mixdesk: Terminal, noted: NotedJobs, tiny: Path, other: Path) -> None:
    noted.result = {"gate": None}
    assert mixdesk("compare", str(tiny), str(other), "--json").status == 0
