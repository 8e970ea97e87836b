"""Running the command line inside the test: status, standard output and standard error of one call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from core.cli import main


@dataclass(frozen=True)
class Answer:
    """What one call said."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document that it must be."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """The error object; fails where anything else is printed."""
        assert set(self.document) == {"error"}
        error: dict[str, Any] = self.document["error"]
        assert set(error) == {"kind", "message", "hint", "layer"}
        assert "\n" not in error["message"]
        return error


class Terminal:
    """Calls `mixdesk` with these arguments."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Answer:
        self._capsys.readouterr()
        status = main(arguments)
        out, err = self._capsys.readouterr()
        assert "Traceback" not in out + err
        return Answer(status, out, err)
