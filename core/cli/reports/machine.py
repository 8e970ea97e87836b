"""The `machine` document for reading."""

from __future__ import annotations

from collections import Counter

from rich.console import Console

from core.cli.reports import parts
from core.recipe.precision import Precision, Support
from core.report import quantities

#: What the others are timed against.
_REFERENCE = str(Precision.FP32)


def report(document: parts.Document, console: Console) -> None:
    """Prints the machine, its limits, and the grid of operators and precisions."""
    machine = document["machine"]
    parts.heading(
        console, str(machine.get("cpu") or "This machine"), f"id {machine.get('id') or machine.get('machine')}"
    )
    parts.lines(console, [(str(key), _told(value)) for key, value in machine.items() if key != "cpu"])
    _print_roofline(document, console)
    _print_counts(document, console)
    shown = parts.table(("op", "signature", "precision", "state", "speed-up", "why"), numeric=("speed-up",))
    for entry in document["capability"]:
        if entry["precision"] != _REFERENCE:
            gain = "" if entry["speedup"] is None else quantities.ratio(entry["speedup"])
            cells = (entry["op"], entry["signature"], entry["precision"], entry["state"], gain, entry["why"] or "")
            parts.row(shown, *cells)
    console.print(shown)


def _print_counts(document: parts.Document, console: Console) -> None:
    """Of each precision, how many of the operators and shapes are in which state."""
    found: dict[str, Counter[str]] = {}
    for entry in document["capability"]:
        found.setdefault(entry["precision"], Counter())[entry["state"]] += 1
    states = [str(support) for support in Support]
    shown = parts.table(("precision", *states), numeric=tuple(states))
    for precision, counts in found.items():
        if precision != _REFERENCE:
            parts.row(shown, precision, *(str(counts[state]) for state in states))
    console.print(shown)


def _print_roofline(document: parts.Document, console: Console) -> None:
    roofline = document.get("roofline")
    if not roofline:
        return
    how = roofline.get("how") or {}
    shown = parts.table(("highest speed", "", "reached with"), numeric=("",))
    for name, value in roofline["gflops"].items():
        parts.row(shown, name, f"{quantities.three(value)} GFLOP/s", how.get(name, ""))
    parts.row(shown, "memory", f"{quantities.three(roofline['gbytes_per_s'])} GB/s", how.get("memory", ""))
    for cache in roofline.get("caches") or ():
        told = f"working set of {quantities.size(cache['bytes'])}"
        parts.row(shown, "cache", f"{quantities.three(cache['gbytes_per_s'])} GB/s", told)
    console.print(shown)


def _told(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return quantities.NOT_KNOWN if value is None else str(value)
