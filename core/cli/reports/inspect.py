"""The `inspect` document for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities


def report(document: parts.Document, console: Console) -> None:
    """Prints what the model holds, then what was repaired and found."""
    model = document["model"]
    parts.heading(console, str(model["name"]), f"sha256 {model['sha256'][:12]}")
    parts.lines(console, _facts(model, document))
    for direction in ("inputs", "outputs"):
        shown = parts.table(("name", "type", "shape"), title=direction.capitalize())
        for spec in model[direction]:
            parts.row(shown, spec["name"], spec["dtype"], quantities.shape(spec["shape"]))
        console.print(shown)
    for repair in document["repairs"]:
        console.print(f"repaired: {repair['what']} ({repair['count']}): {repair['why']}", markup=False)
    for finding in document["findings"]:
        console.print(f"{finding['severity']}: {finding['message']}", markup=False)
        if finding["hint"]:
            console.print(f"  {finding['hint']}", markup=False)
    if not document["findings"]:
        console.print("No findings.")


def _facts(model: Mapping[str, Any], document: parts.Document) -> list[tuple[str, str]]:
    ops = sorted(document["ops"].items(), key=lambda item: (-item[1], item[0]))
    return [
        ("file", f"{quantities.size(model['bytes'])}, opset {model['opset']}, IR {model['ir']}"),
        ("layers", _layers(model)),
        ("parameters", quantities.count(model["parameters"])),
        ("arithmetic", quantities.count(model["macs"], "MAC")),
        ("weights", quantities.size(model["weight_bytes"])),
        ("activations", _peak(model["activation_peak_bytes"])),
        ("operators", ", ".join(f"{op} {count}" for op, count in ops)),
        ("data", parts.data_line(document.get("data"))),
    ]


def _layers(model: Mapping[str, Any]) -> str:
    if model["layer_count"] is None:
        return quantities.NOT_KNOWN
    return f"{model['layer_count']} in {model['group_count']} groups, {model['subgraph_count']} sub-graphs"


def _peak(size_bytes: int | None) -> str:
    return quantities.NOT_KNOWN if size_bytes is None else f"{quantities.size(size_bytes)} at the peak"
