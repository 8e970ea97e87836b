"""`mixdesk ui` becomes the dashboard."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.running import Terminal


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Notes what the process would become."""
    noted: list[list[str]] = []

    def execve(path: str, command: list[str], environment: dict[str, str]) -> None:
        assert path == sys.executable
        assert str(Path(__file__).parents[3]) in environment["PYTHONPATH"]
        noted.append(command[1:])
        raise SystemExit(0)

    monkeypatch.setattr(os, "execve", execve)
    return noted


def test_it_listens_on_this_machine_only_unless_told(mixdesk: Terminal, became: list[list[str]]) -> None:
    with pytest.raises(SystemExit):
        mixdesk("ui")
    assert became == [["-P", "-m", "dashboard", "--host", "127.0.0.1", "--port", "8501"]]


def test_options_are_passed_on(mixdesk: Terminal, became: list[list[str]]) -> None:
    with pytest.raises(SystemExit):
        mixdesk("ui", "--host", "0.0.0.0", "--port", "9000", "--workspace", "here", "--folder", "a", "--folder", "b")
    given = ["--host", "0.0.0.0", "--port", "9000", "--workspace", "here", "--folder", "a", "--folder", "b"]
    assert became[0][3:] == given


def test_without_streamlit_it_says_so(mixdesk: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "streamlit" else object())
    answer = mixdesk("ui")
    assert answer.status == 2
    assert "'streamlit' is not installed" in answer.err
