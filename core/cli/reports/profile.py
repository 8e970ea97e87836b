"""The `profile` document for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities
from core.report.changes import advice_lines

_ROWS = 20


def report(document: parts.Document, console: Console) -> None:
    """Prints the latency, the slowest layers, the time outside layers, the memory and the advice."""
    wall = document["wall_ms"]
    parts.heading(console, f"{quantities.time_ms(wall['median'])} per run", "median, not instrumented")
    parts.lines(console, _facts(document, wall))
    _print_layers(document, console)
    _print_buckets(document, console)
    _print_growth(document.get("growth"), console)
    for advice in document["advice"]:
        console.print(f"advice: {' '.join(advice_lines(advice))}", markup=False)


def _facts(document: parts.Document, wall: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("mean", f"{quantities.time_ms(wall['mean'])} [{quantities.time_range(wall['ci95'])}]"),
        ("95th percentile", quantities.time_ms(wall["p95"])),
        ("instrumented", f"{quantities.time_ms(document['instrumented_ms'])} (profiler on)"),
        (
            "in kernels",
            f"{quantities.time_ms(document['kernel_ms'])}, between them {quantities.time_ms(document['gap_ms'])}",
        ),
        ("attributed", f"{quantities.share(document['attributed_share'])} of kernel time to layers of the model"),
        ("memory", _memory(document["memory"])),
        ("data", parts.data_line(document.get("data"))),
        ("conditions", parts.conditions_line(document["conditions"])),
    ]


def _memory(memory: Mapping[str, Any]) -> str:
    """The peaks, from what the graph needs to what the process took; what is not known is left out."""
    known = {
        "activations": memory.get("activation_peak_bytes"),
        "planned": memory.get("planned_bytes"),
        "arena": memory.get("arena_peak_bytes"),
        "process": memory.get("process_peak_bytes"),
    }
    told = [f"{name} {quantities.size(size)}" for name, size in known.items() if size is not None]
    return f"at the peak: {', '.join(told)}" if told else quantities.NOT_KNOWN


def _print_layers(document: parts.Document, console: Console) -> None:
    timed = [layer for layer in document["layers"] if layer["ms"]]
    rows = sorted(timed, key=lambda layer: -layer["ms"])
    columns = ("layer", "op", "time", "share", "MACs", "bound by", "executes as")
    title = f"Slowest {min(_ROWS, len(rows))} of {len(document['layers'])} layers ({len(rows)} take time of their own)"
    shown = parts.table(columns, numeric=("time", "share", "MACs"), title=title)
    for layer in rows[:_ROWS]:
        parts.row(
            shown,
            layer["id"],
            layer["op"],
            quantities.time_ms(layer["ms"]),
            quantities.share(layer["share"]),
            quantities.count(layer["macs"]),
            layer["limited_by"] or "",
            layer["executes_as"] or "",
        )
    console.print(shown)


def _print_buckets(document: parts.Document, console: Console) -> None:
    spent = {name: ms for name, ms in document["buckets"].items() if ms}
    if spent:
        told = ", ".join(f"{name} {quantities.time_ms(ms)}" for name, ms in spent.items())
        console.print(f"Outside layers: {told}")


def _print_growth(growth: Mapping[str, Any] | None, console: Console) -> None:
    """The layers that take longest at the largest point, with what they take at each."""
    if not growth:
        return
    names = [point["name"] for point in growth["points"]]
    timed = [layer for layer in growth["layers"] if layer["ms"][-1]]
    rows = sorted(timed, key=lambda layer: -layer["ms"][-1])[:_ROWS]
    title = "Growth: time grows with the elements of the inputs to the power of the exponent"
    shown = parts.table(("layer", *names, "exponent"), numeric=(*names, "exponent"), title=title)
    elements = [quantities.count(point["elements"]) for point in growth["points"]]
    parts.row(shown, "elements", *elements, "")
    walls = [quantities.time_ms(point["wall_ms"]["median"]) for point in growth["points"]]
    parts.row(shown, "one run, not instrumented", *walls, "")
    for layer in rows:
        told = "not known" if layer["exponent"] is None else f"{layer['exponent']:.2f}"
        parts.row(shown, layer["id"], *(quantities.time_ms(ms) if ms else "" for ms in layer["ms"]), told)
    console.print(shown)
