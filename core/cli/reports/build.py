"""The `build` document for reading."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from core.cli.reports import compare, parts
from core.report import quantities
from core.report.lines import difference_lines


def report(document: parts.Document, console: Console) -> None:
    """Prints what was built, what became of each layer, and how it compares with the original."""
    layers = document["layers"]
    parts.heading(console, "Built", quantities.size(document["bytes"]))
    conversions = document["conversions"]
    parts.lines(
        console,
        [
            ("file", parts.file_line(document)),
            ("asked", parts.precisions_line(layers, "requested")),
            ("produced", parts.precisions_line(layers, "produced")),
            ("executed", parts.precisions_line(layers, "executed")),
            ("conversions", f"{conversions['count']}, {quantities.time_ms(conversions['ms'])}"),
            ("fidelity", parts.fidelity_line(document["fidelity"])),
            ("data", parts.data_line(document.get("data"))),
        ],
    )
    for line in difference_lines(document):
        console.print(Text(f"differs from the recipe's model: {line}"))
    parts.not_as_asked(console, layers)
    if document.get("comparison"):
        compare.report({**document["comparison"], "conditions": document["conditions"]}, console)
