"""`mixdesk inspect` and `mixdesk profile` ask for their jobs with what was given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal


@pytest.mark.parametrize("command", ["inspect", "profile"])
def test_data_and_shapes_reach_the_job(
    mixdesk: Terminal, noted: NotedJobs, tiny: Path, tmp_path: Path, command: str
) -> None:
    data = tmp_path / "eval.npz"
    np.savez(data, x=np.zeros((4, 1, 3), np.float32))
    arguments = ("--data", str(data), "--shape", "x=1x3", "--batch", "2", "--seed", "7", "--json")
    assert mixdesk(command, str(tiny), *arguments).status == 0
    kind, params = noted.asked[0]
    assert kind == command
    assert (params["model_name"], params["data_name"]) == ("tiny", "eval")
    assert (params["shapes"], params["batch"], params["seed"]) == ({"x": [1, 3]}, 2, 7)
    assert params["data"] is not None


def test_a_sample_comes_with_its_data(mixdesk: Terminal, noted: NotedJobs) -> None:
    mixdesk("inspect", "silero-vad", "--json")
    assert noted.params["data"] is not None
    assert noted.params["origin"] == "sample"


def test_runs_are_passed_on(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    mixdesk("profile", str(tiny), "--runs", "12", "--json")
    assert noted.params["runs"] == 12
