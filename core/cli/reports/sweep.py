"""The `sweep` document for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities


def report(document: parts.Document, console: Console) -> None:
    """Prints the sweet spot with its reason, and a row for every cell."""
    spot = document["sweet_spot"]
    head = "No sweet spot" if spot is None else f"{quantities.with_unit(spot['throughput'], 'samples/s')}"
    parts.heading(console, head, "" if spot is None else f"{spot['threads']} threads, batch {spot['batch']}")
    parts.lines(console, [("why", str(document["why"]))])
    columns = ("threads", "batch", "samples/s", "95 % interval", "latency, mean", "95th percentile", "note")
    shown = parts.table(columns, numeric=columns[:-1])
    for cell in document["cells"]:
        parts.row(shown, cell["threads"], cell["batch"], *_figures(cell), _note(cell, spot))
    console.print(shown)
    parts.lines(
        console,
        [
            ("measured", f"{document['how']}; spinning off"),
            ("took", _took(document)),
            ("data", parts.data_line(document.get("data"))),
            ("machine", _machine(document["conditions"])),
        ],
    )


def _took(document: parts.Document) -> str:
    took, told = (quantities.duration_s(document[name]) for name in ("measured_s", "estimate_s"))
    return f"{took}; told before: {told}"


def _figures(cell: Mapping[str, Any]) -> tuple[str, str, str, str]:
    latency = cell["latency_ms"]
    if latency is None:
        return ("", "", "", "")
    low, high = (quantities.three(end) for end in cell["throughput_ci95"])
    mean, p95 = quantities.times_ms(latency["mean"], latency["p95"])
    return quantities.three(cell["throughput"]), f"{low}–{high}", mean, p95


def _note(cell: Mapping[str, Any], spot: Mapping[str, Any] | None) -> str:
    latency = cell["latency_ms"] or {}
    words = [str(cell["why"])] if cell["why"] else []
    if spot is not None and (cell["threads"], cell["batch"]) == (spot["threads"], spot["batch"]):
        words.append("sweet spot")
    if cell["oversubscribed"]:
        words.append("more threads than processors")
    if latency.get("basis") == "processor":
        words.append("processor time: the machine was busy")
    return "; ".join(words)


def _machine(conditions: Mapping[str, Any]) -> str:
    versions = f"onnxruntime {conditions['onnxruntime']}"
    return f"{conditions['cpu']}, {conditions['cores']} cores, {versions}, load {conditions['load_average']}"
