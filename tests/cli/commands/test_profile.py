"""`mixdesk profile` on models that crash, never end, take all memory or are refused; and at several shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.jobs import queue
from core.store.workspace import Workspace
from tests import bad_runs
from tests.cli.running import Terminal


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job and a run may take: far less than the machine has."""
    monkeypatch.setenv("MIXDESK_JOB_MEMORY_MB", "2000")
    monkeypatch.setenv("MIXDESK_RUN_SECONDS", "2")


def write(folder: Path, text: str) -> str:
    path = folder / "bad.onnx"
    path.write_bytes(bad_runs.bad_run(text))
    return str(path)


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        (bad_runs.CRASH, (), (3, "crashed", "divide")),
        (bad_runs.ENDLESS, ("--time-budget", "1"), (3, "run", "loop")),
        (bad_runs.HUNGRY, (), (3, "run", "fill")),
        (bad_runs.FAILING, (), (3, "run", "look_up")),
        (bad_runs.REFUSED, (), (2, "model", "arc")),
    ],
)
@pytest.mark.usefixtures("little")
def test_the_layer_to_blame_stands_in_the_answer(
    mixdesk: Terminal, tmp_path: Path, text: str, options: tuple[str, ...], told: tuple[int, str, str]
) -> None:
    answer = mixdesk("profile", write(tmp_path, text), *options, "--json")
    assert (answer.status, answer.error["kind"], answer.error["layer"]) == told
    assert answer.error["hint"]
    assert f"'{answer.error['layer']}'" in answer.error["message"]


def test_in_words_it_is_one_line_and_a_hint_and_the_job_keeps_what_it_knew(mixdesk: Terminal, tmp_path: Path) -> None:
    answer = mixdesk("profile", write(tmp_path, bad_runs.CRASH))
    assert answer.status == 3
    assert answer.out == ""
    told = [line for line in answer.err.splitlines() if not line.startswith("Profile bad")]
    assert told[0] == "mixdesk: The runtime crashed (SIGFPE) in layer 'divide' (Div)."
    assert len(told) == 2
    store = Workspace.open()
    (job,) = queue.jobs(store, kind="profile")
    known = {key: value for partial in queue.partials(store, job.id) for key, value in partial.value.items()}
    assert [row["id"] for row in known["layers"]] == ["zero", "smallest", "negative", "divide", "last"]


def test_growth_is_measured_at_the_shapes_that_are_named(mixdesk: Terminal, tmp_path: Path) -> None:
    path = write(tmp_path, "g (float[n, 8] x) => (float[n, 8] y) { [relu] y = Relu (x) }")
    answer = mixdesk("profile", path, "--runs", "3", "--at", "few=x:4x8", "--at", "many=x:4000x8", "--json")
    assert answer.status == 0
    growth = answer.document["growth"]
    assert [point["shapes"] for point in growth["points"]] == [{"x": [4, 8]}, {"x": [4000, 8]}]
    refused = mixdesk("profile", path, "--at", "few=x:4x9", "--at", "many=x:4000x8", "--json")
    assert refused.status == 2
    assert refused.error["message"] == "At 'few': Input 'x' takes [n, 8], but the shape [4, 9] was given."
