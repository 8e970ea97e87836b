"""`--output NAME[=WEIGHT]` reaches every job that judges outputs; the others say that it changes nothing there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal


@pytest.mark.parametrize(
    "arguments",
    [("build", "{}", "--precision", "int8"), ("optimize", "{}"), ("compare", "{}", "{}"), ("profile", "{}")],
)
def test_outputs_and_weights_are_told_to_the_job(
    mixdesk: Terminal, noted: NotedJobs, tiny: Path, arguments: tuple[str, ...]
) -> None:
    noted.result = {}
    call = [argument.format(tiny) for argument in arguments]
    mixdesk(*call, "--output", "y=2.5", "--output", "z", "--json")
    assert noted.params["outputs"] == {"y": 2.5, "z": 1.0}


def test_a_profile_says_that_outputs_change_nothing(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    noted.result = {}
    assert "--output has no effect on 'profile'" in mixdesk("profile", str(tiny), "--output", "y", "--json").err


@pytest.mark.parametrize("wrong", ["y=0", "y=-2", "y=many"])
def test_a_weight_that_is_none_is_a_wrong_call(mixdesk: Terminal, noted: NotedJobs, tiny: Path, wrong: str) -> None:
    answer = mixdesk("optimize", str(tiny), "--output", wrong, "--json")
    assert answer.status == 2
    assert "is not an output with a weight" in answer.error["message"]
    assert not noted.asked


def test_fresh_work_is_asked_of_the_job(mixdesk: Terminal, noted: NotedJobs, tiny: Path) -> None:
    noted.result = {}
    mixdesk("optimize", str(tiny), "--fresh", "--json")
    assert noted.params["fresh"] is True
