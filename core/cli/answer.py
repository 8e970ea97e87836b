"""Answers: what goes to standard output (one JSON document or a report) and to standard error (one sentence, notes)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from core.errors import MixdeskError

if TYPE_CHECKING:
    from rich.console import Console

Document = Mapping[str, Any]
_WIDTH_IN_A_PIPE = 200

Report = Callable[[Document, "Console"], None]


def give(document: Document, report: Report, *, as_json: bool) -> None:
    """Prints a document: as JSON, alone on standard output, or as a report for reading."""
    if as_json:
        _print_json(document)
        return
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH_IN_A_PIPE
    report(document, Console(highlight=False, width=width))


def refuse(error: MixdeskError, *, as_json: bool) -> int:
    """Tells an error and returns the exit status that goes with it."""
    if as_json:
        _print_json({"error": error.to_dict()})
        return error.exit_status
    print(f"mixdesk: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  {error.hint}", file=sys.stderr)
    return error.exit_status


def note(text: str) -> None:
    """One line on standard error that changes nothing."""
    print(f"note: {text}", file=sys.stderr)


def _print_json(document: Document) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()
