"""The `machine` document for reading."""

from __future__ import annotations

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities


def report(document: parts.Document, console: Console) -> None:
    """Prints the machine, its limits, and the grid of operators and precisions."""
    machine = document["machine"]
    parts.heading(
        console, str(machine.get("cpu") or "This machine"), f"id {machine.get('id') or machine.get('machine')}"
    )
    parts.lines(console, [(str(key), _told(value)) for key, value in machine.items() if key != "cpu"])
    _print_roofline(document, console)
    shown = parts.table(("op", "signature", "precision", "state", "speed-up", "why"), numeric=("speed-up",))
    for entry in document["capability"]:
        gain = "" if entry["speedup"] is None else quantities.ratio(entry["speedup"])
        parts.row(shown, entry["op"], entry["signature"], entry["precision"], entry["state"], gain, entry["why"] or "")
    console.print(shown)


def _print_roofline(document: parts.Document, console: Console) -> None:
    roofline = document.get("roofline")
    if not roofline:
        return
    peaks = [f"{name} {quantities.three(value)} GFLOP/s" for name, value in roofline["gflops"].items()]
    peaks.append(f"memory {quantities.three(roofline['gbytes_per_s'])} GB/s")
    console.print("Measured limits: " + ", ".join(peaks))


def _told(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return quantities.NOT_KNOWN if value is None else str(value)
