"""The page docs/cli.md and the real documents hold together: every key is in both. So do commands and options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer

from core.cli.app import app
from core.errors import MixdeskError, RequestError, WorkError
from core.jobs import queue
from core.store.workspace import Workspace
from core.tasks.registry import KINDS
from tests.cli.documented import PAGE, documented_paths, read_sections, real_paths, undocumented, unreal
from tests.cli.running import Terminal

pytestmark = pytest.mark.xdist_group("timing")

TEXT = PAGE.read_text(encoding="utf-8")
SECTIONS = read_sections(TEXT)
EVERY = "json-of-every-document"


def _differences(document: Any, anchor: str) -> tuple[list[str], list[str]]:
    documented = documented_paths(SECTIONS, EVERY) | documented_paths(SECTIONS, anchor)
    return undocumented(real_paths(document), documented), unreal(document, documented)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_document_is_on_the_page_and_the_reverse(documents: Mapping[str, Any], kind: str) -> None:
    assert _differences(documents[kind], f"json-of-{kind}") == ([], [])


def test_documents_of_commands_without_a_job_are_on_the_page(mixdesk: Terminal, workspace_path: Path) -> None:
    store = Workspace.open(workspace_path)
    first = queue.submit(store, "inspect", {"threads": 1, "model": "ab" * 32, "model_name": "m"}, title="Inspect")
    queue.stop(store, first)
    job_id = queue.resume(store, first)
    calls = {
        "samples": ("samples",),
        "jobs-list": ("jobs", "list"),
        "jobs-show": ("jobs", "show", job_id),
        "jobs-stop": ("jobs", "stop", job_id),
        "jobs-clean": ("jobs", "clean"),
    }
    for name, arguments in calls.items():
        document = mixdesk(*arguments, "--json").document
        assert (name, _differences(document, f"json-of-{name}")) == (name, ([], []))


def test_a_key_too_many_and_a_key_too_few_are_found() -> None:
    documented = {"a", "a.b", "c", "free", "free.*"}
    document = {"a": {"b": 1, "new": 2}, "free": {"anything": 3}}
    assert undocumented(real_paths(document), documented) == ["a.new"]
    assert unreal(document, documented) == ["c"]


def test_every_command_is_on_the_page() -> None:
    commands = {name for name, command in typer.main.get_command(app).commands.items() if not command.hidden}  # type: ignore[attr-defined]
    on_the_page = set(re.findall(r"^### `mixdesk ([a-z]+)", TEXT, flags=re.MULTILINE))
    assert on_the_page == commands


def test_every_option_is_on_the_page() -> None:
    missing = {
        (name, option)
        for name, command in typer.main.get_command(app).commands.items()  # type: ignore[attr-defined]
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option not in ("--help", "--out") and f"`{option}" not in TEXT
    }
    assert not missing


def test_every_kind_of_error_is_on_the_page() -> None:
    kinds = {error.kind for error in _tree(MixdeskError)} - {MixdeskError.kind}
    listed = TEXT.split("`kind` is one of")[1].split("`layer`")[0]
    assert set(re.findall(r"`([a-z-]+)`", listed)) == kinds
    assert {RequestError.exit_status, WorkError.exit_status} == {2, 3}


def _tree(error: type[MixdeskError]) -> list[type[MixdeskError]]:
    return [error, *(below for child in error.__subclasses__() for below in _tree(child))]
