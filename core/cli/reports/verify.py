"""The `verify` document for reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from core.cli.reports import parts
from core.report import quantities

_NAMES = {
    "speedup": "speed-up",
    "fidelity.sqnr_db": "SQNR",
    "fidelity.agreement": "agreement",
    "accuracy.before": "accuracy before",
    "accuracy.after": "accuracy after",
    "size.before_bytes": "size before",
    "size.after_bytes": "size after",
    "memory.before_bytes": "memory before",
    "memory.after_bytes": "memory after",
    "layers.executed": "layers as reported",
}


def report(document: parts.Document, console: Console) -> None:
    """Prints whether the bundle agrees, every figure then and now, and what to know."""
    parts.heading(console, "Agrees" if document["agrees"] else "Does NOT agree", str(document["why"]))
    parts.lines(console, _facts(document))
    if document["figures"]:
        shown = parts.table(("figure", "then", "now", "tolerance", ""), numeric=("then", "now"))
        for row in document["figures"]:
            told = (_told(row["figure"], row["stored"]), _told(row["figure"], row["measured"]))
            parts.row(shown, _NAMES.get(row["figure"], row["figure"]), *told, row["tolerance"], _word(row))
        console.print(shown)
    for row in document["figures"]:
        if row["why"]:
            console.print(f"{_NAMES.get(row['figure'], row['figure'])}: {row['why']}", markup=False)
    for note in document["notes"]:
        console.print(f"note: {note}", markup=False)


def _facts(document: parts.Document) -> list[tuple[str, str]]:
    facts = [
        ("bundle", f"{document['name']} of {document['model']}, format {document['format']}"),
        ("hashes", str(document["hashes"])),
    ]
    if document.get("target"):
        facts.append(("target", parts.target_line(document["target"])))
    if document.get("data"):
        facts.append(("data", f"{document['data']['name']}, {document['data']['samples']} samples"))
    stored = document.get("stored_conditions")
    if stored and document["hashes"] == "ok":
        facts.append(("then", parts.conditions_line(stored)))
        facts.append(("now", parts.conditions_line(document["conditions"])))
    return facts


def _told(figure: str, value: Any) -> str:
    if value is None:
        return quantities.NOT_KNOWN
    if isinstance(value, Mapping):
        return f"{quantities.ratio(value['ratio'])} [{quantities.ratio_range(value['ci95'])}]"
    if figure.endswith("_bytes"):
        return quantities.size(value)
    if figure.endswith("_db"):
        return quantities.with_unit(value, "dB")
    return quantities.share(value) if figure.startswith(("accuracy", "fidelity")) else str(value)


def _word(row: Mapping[str, Any]) -> str:
    return {None: "cannot be told", True: "agrees", False: "differs"}[row["agrees"]]
