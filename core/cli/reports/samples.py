"""The `samples` document for reading."""

from __future__ import annotations

from rich.console import Console

from core.cli.reports import parts


def report(document: parts.Document, console: Console) -> None:
    """Prints the samples, one a row."""
    shown = parts.table(("name", "task", "metric", "licence", "origin"))
    for sample in document["samples"]:
        parts.row(shown, *(sample[key] or "" for key in ("name", "task", "metric", "licence", "origin")))
    console.print(shown)
