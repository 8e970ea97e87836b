"""The `compare` document for reading."""

from __future__ import annotations

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities


def report(document: parts.Document, console: Console) -> None:
    """Prints the verdict, the ratios with their intervals, accuracy, fidelity and the gate."""
    parts.heading(console, f"Verdict: {document['verdict']}", "B against A; above 1x is better")
    shown = parts.table(("measure", "ratio", "95 % interval"), numeric=("ratio", "95 % interval"))
    for name, ratio in document["ratio"].items():
        value = ratio if isinstance(ratio, int | float) else (ratio or {}).get("value")
        interval = ratio.get("ci95") if isinstance(ratio, dict) else None
        spread = quantities.ratio_range(interval) if interval else ""
        parts.row(shown, name, quantities.ratio(value), spread)
    console.print(shown)
    noise = document["noise"]
    latency = document["latency"]
    before, after = quantities.time_ms(latency["before_ms"]), quantities.time_ms(latency["after_ms"])
    lines = [
        ("why", str(document["why"])),
        ("latency", f"{before} -> {after}, {latency['how']}"),
        ("accuracy", parts.accuracy_line(document["accuracy"])),
        ("fidelity", parts.fidelity_line(document["fidelity"])),
        ("noise", f"A against itself {quantities.ratio_range(noise['aa_ci95'])}"),
        ("conditions", parts.conditions_line(document["conditions"])),
    ]
    gate = document.get("gate")
    if gate:
        broken = "" if gate["met"] else f", broken: {_broken(gate['broken'])}"
        lines.append(("gate", f"{gate['text']}: {'met' if gate['met'] else 'NOT met'}{broken}"))
    parts.lines(console, lines)


def _broken(broken: object) -> str:
    return ", ".join(str(part) for part in broken) if isinstance(broken, list) else str(broken)
