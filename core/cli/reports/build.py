"""The `build` document for reading."""

from __future__ import annotations

from rich.console import Console

from core.cli.reports import compare, parts
from core.report import quantities


def report(document: parts.Document, console: Console) -> None:
    """Prints what was built, what became of each layer, and how it compares with the original."""
    layers = document["layers"]
    parts.heading(console, "Built", quantities.size(document["bytes"]))
    conversions = document["conversions"]
    parts.lines(
        console,
        [
            ("file", str(document["output"] or "kept in the workspace (write it with -o NAME.onnx)")),
            ("asked", parts.precisions_line(layers, "requested")),
            ("produced", parts.precisions_line(layers, "produced")),
            ("executed", parts.precisions_line(layers, "executed")),
            ("conversions", f"{conversions['count']}, {quantities.time_ms(conversions['ms'])}"),
            ("fidelity", parts.fidelity_line(document["fidelity"])),
            ("data", parts.data_line(document.get("data"))),
        ],
    )
    parts.not_as_asked(console, layers)
    if document.get("comparison"):
        compare.report({**document["comparison"], "conditions": document["conditions"]}, console)
