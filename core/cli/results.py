"""Results: a finished job's document answered as the command of its kind answers it, with that command's status."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli import answer
from core.errors import RequestError

if TYPE_CHECKING:
    from rich.console import Console

    from core.store.rows import JobRow
    from core.store.workspace import Workspace

#: Where a document tells whether what was asked was reached, by kind of work.
_JUDGED = {"optimize": ("target",), "build": ("comparison", "gate"), "compare": ("gate",)}
#: The kinds of work that have a command of their name; the others are parts of the dashboard's work.
COMMANDS = frozenset({"inspect", "machine", "profile", "sweep", "build", "optimize", "compare", "verify"})


def give_result(kind: str, document: Mapping[str, Any], *, as_json: bool) -> int:
    """Prints the document and returns the exit status that goes with it; only the `COMMANDS` have a report."""

    def report(shown: answer.Document, console: Console) -> None:
        importlib.import_module(f"core.cli.reports.{kind}").report(shown, console)

    answer.give(document, report, as_json=as_json)
    return status_of(kind, document)


def write_result(store: Workspace, row: JobRow, out: Path | None) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Checks now whether a job's model can be written there, and returns what writes it when the job has ended.

    Raises:
        RequestError: this kind of work makes no model, or it cannot be written there.
    """
    if row.kind not in ("build", "optimize"):
        if out is None:
            return lambda document: document
        raise RequestError(f"A job of kind {row.kind} makes no model that -o could write.", hint="Leave -o out.")
    from core.cli.files import check_out, write_out

    check_out(out)

    def write(document: dict[str, Any]) -> dict[str, Any]:
        return write_out(store, document, out)

    return write


def status_of(kind: str, document: Mapping[str, Any]) -> int:
    """1 where a target, gate or latency limit was not met or a bundle's figures do not agree, else 0."""
    if kind == "verify":
        missed = (document.get("target") or {}).get("met") is False
        return 1 if missed or document.get("agrees") is False else 0
    if kind == "sweep":
        return 1 if document.get("limit_ms") is not None and document.get("sweet_spot") is None else 0
    judged: Any = document if kind in _JUDGED else None
    for key in _JUDGED.get(kind, ()):
        judged = (judged or {}).get(key)
    return 1 if judged and judged.get("met") is False else 0
