"""The `optimize` document for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities
from core.report.lines import units_line


def report(document: parts.Document, console: Console) -> None:
    """Prints the gain, the target, what became of each layer and why it ended there."""
    speedup = document["speedup"]
    if document["unchanged"]:
        parts.heading(console, "Unchanged", "the original stays")
    else:
        gain = f"{quantities.ratio(speedup['ratio'])} as fast"
        parts.heading(console, gain, f"95 % interval {quantities.ratio_range(speedup['ci95'])}")
    parts.lines(console, _facts(document, speedup))
    parts.not_as_asked(console, document["layers"])


def _facts(document: parts.Document, speedup: Mapping[str, Any]) -> list[tuple[str, str]]:
    size, memory = document["size"], document["memory"]
    before, after = quantities.time_ms(speedup["before_ms"]), quantities.time_ms(speedup["after_ms"])
    facts = [
        ("why", str(document["why"])),
        ("target", parts.target_line(document.get("target"))),
        ("latency", f"{before} -> {after}, {speedup['how']}"),
        ("size", f"{quantities.size(size['before_bytes'])} -> {quantities.size(size['after_bytes'])}"),
        ("memory", f"{quantities.size(memory['before_bytes'])} -> {quantities.size(memory['after_bytes'])}"),
        ("accuracy", parts.accuracy_line(document["accuracy"])),
        ("fidelity", parts.fidelity_line(document["fidelity"])),
        ("layers", parts.precisions_line(document["layers"], "produced")),
        ("evaluations", str(document["evaluations"])),
        ("data", parts.data_line(document.get("data"))),
        ("conditions", parts.conditions_line(document["conditions"])),
    ]
    facts += [(name, str(part["why"])) for name in ("dynamic", "session") if (part := document[name])]
    if document.get("units"):
        facts.append(("work", units_line(document["units"])))
    if document.get("output"):
        facts.append(("file", parts.file_line(document)))
    return facts
