"""Every file that is no usable model, through every command: one sentence, exit status 2, no stack trace."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.cli import work
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.registry import run_task
from tests.bad_models import BAD
from tests.cli.running import Terminal

COMMANDS = {
    "inspect": (),
    "profile": ("--runs", "1"),
    "build": ("--precision", "int8", "--no-measure"),
    "optimize": ("--time-budget", "1"),
}


@pytest.fixture
def here(mixdesk: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The command line with jobs that run in this very process."""

    def run_job(workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str) -> dict[str, Any]:
        return run_task(workspace, kind, params, Silent())

    monkeypatch.setattr(work, "run_job", run_job)
    return mixdesk


@pytest.fixture
def path(what: str, tmp_path: Path) -> Path:
    """The file."""
    return BAD[what].make(tmp_path / "given")


@pytest.mark.parametrize("what", [what for what, bad in BAD.items() if bad.parses])
def test_inspect_shows_a_file_that_parses_with_the_sentence_as_first_finding(
    here: Terminal, what: str, path: Path
) -> None:
    answer = here("inspect", str(path), "--json")
    assert answer.status == 0
    first = answer.document["findings"][0]
    assert first["severity"] == "error"
    assert BAD[what].said in first["message"]
    assert BAD[what].hint in first["hint"]
    assert f"error: {first['message']}" in " ".join(here("inspect", str(path)).out.split())


@pytest.mark.parametrize("what", ["cycle"])
def test_what_a_broken_graph_holds_is_not_known(here: Terminal, path: Path) -> None:
    told = {line.split()[0]: line for line in here("inspect", str(path)).out.splitlines() if line.strip()}
    for name in ("layers", "parameters", "arithmetic", "weights", "activations"):
        assert told[name].split(maxsplit=1)[1].strip() == "not known"


@pytest.mark.parametrize(
    ("what", "command"),
    [(what, command) for what, bad in BAD.items() for command in COMMANDS if not (bad.parses and command == "inspect")],
)
def test_it_is_refused_in_one_line(here: Terminal, what: str, path: Path, command: str) -> None:
    answer = here(command, str(path), *COMMANDS[command], "--json")
    assert answer.status == 2
    assert answer.err == ""
    assert answer.error["kind"] == "model"
    assert BAD[what].said in answer.error["message"]
    assert BAD[what].hint in answer.error["hint"]
    plain = here(command, str(path), *COMMANDS[command])
    assert (plain.status, plain.out) == (2, "")
    assert plain.err.splitlines()[0] == f"mixdesk: {answer.error['message']}"


def test_nothing_of_an_archive_is_written_outside(here: Terminal, tmp_path: Path) -> None:
    path = BAD["zip slip"].make(tmp_path / "a" / "b" / "c")
    assert here("inspect", str(path)).status == 2
    assert not list(tmp_path.rglob("evil.onnx"))
