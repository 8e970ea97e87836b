"""The `build` document for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from core.cli.reports import compare, parts
from core.report import quantities
from core.report.lines import difference_lines


def report(document: parts.Document, console: Console) -> None:
    """Prints what was built, what became of each layer, and how it compares with the original."""
    layers = document["layers"]
    parts.heading(console, "Built", quantities.size(document["bytes"]))
    parts.lines(
        console,
        [
            ("file", parts.file_line(document)),
            ("asked", parts.precisions_line(layers, "requested")),
            ("produced", parts.precisions_line(layers, "produced")),
            ("executed", parts.precisions_line(layers, "executed")),
            ("conversions", _conversions(document["conversions"])),
            ("fidelity", parts.fidelity_line(document["fidelity"])),
            ("data", parts.data_line(document.get("data"))),
        ],
    )
    for line in difference_lines(document):
        console.print(Text(f"differs from the recipe's model: {line}"))
    parts.not_as_asked(console, layers)
    if document.get("comparison"):
        compare.report({**document["comparison"], "conditions": document["conditions"]}, console)


def _conversions(found: Mapping[str, Any]) -> str:
    """How many there are, and the time that they take, where it was measured."""
    if found["ms"] is None:
        return f"{found['count']} (their time was not measured)"
    return f"{found['count']}, {quantities.time_ms(found['ms'])}"
