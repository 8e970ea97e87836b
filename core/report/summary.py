"""Summary: a result document as a few lines of plain text, the gain first and what was not done last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.report import lines, quantities

Document = Mapping[str, Any]

_WIDTH = 11


def summarize(document: Document) -> str:
    """Lines for an `optimize`, `build` or `compare` document.

    Raises:
        KeyError: it is none of these.
    """
    compared = comparison_of(document)
    facts = [("why", str(document.get("why") or (compared or {}).get("why") or "")), *_target(document)]
    facts += _measured(document, compared)
    layers = document.get("layers") or ()
    if layers:
        facts.append(("layers", f"{lines.lowered_line(layers)}; executed: {lines.precisions_line(layers, 'executed')}"))
        facts += [("left", text) for text in lines.left_lines(layers)]
    facts += [("differs", text) for text in lines.difference_lines(document)]
    facts += [("note", str(note)) for note in document.get("notes") or ()]
    facts += [(part, _permission(document[part])) for part in ("dynamic", "session") if document.get(part)]
    if document.get("data"):
        facts.append(("data", lines.data_line(document["data"])))
    if document.get("conditions"):
        facts.append(("conditions", lines.conditions_line(document["conditions"])))
    shown = [f"  {name + ':':<{_WIDTH}} {text}" for name, text in facts if text]
    return "\n".join([headline(document), *shown])


def headline(document: Document) -> str:
    """The result in one line: how much faster and how sure, or that nothing was changed or measured."""
    name = str(document.get("model") or document.get("name") or "")
    start = f"{name}: " if name else ""
    if document.get("unchanged"):
        return f"{start}unchanged, the original stays"
    speedup = speedup_of(document)
    if speedup is None:
        return f"{start}built, not measured"
    spread = quantities.ratio_range(speedup.get("ci95"))
    return f"{start}{quantities.ratio(speedup['ratio'])} as fast as the original (95 % interval {spread})"


def comparison_of(document: Document) -> Document | None:
    """The `comparison` part of a document, or the document itself where it is one; None where nothing was measured."""
    if document.get("ratio"):
        return document
    found: Document | None = document.get("comparison")
    return found


def speedup_of(document: Document) -> Document | None:
    """The latency in pairs; None where it was not measured."""
    compared = comparison_of(document) or {}
    found: Document | None = document.get("speedup") or compared.get("latency")
    return found


def target_of(document: Document) -> Document | None:
    """The judged target as `text`, `met` and `each`, whichever command it is from; None where none was given."""
    if (document.get("target") or {}).get("text"):
        found: Document = document["target"]
        return found
    gate = (comparison_of(document) or {}).get("gate")
    return gate if gate else None


def _target(document: Document) -> list[tuple[str, str]]:
    target = target_of(document)
    if target is None:
        return []
    each = "; ".join(_judged(row) for row in target.get("each") or ())
    return [("target", f"{target['text']}: {'met' if target['met'] else 'NOT met'}" + (f" ({each})" if each else ""))]


def _judged(row: Document) -> str:
    value = quantities.three(row.get("value"))
    return f"{row['metric']} {value}, required {quantities.three(row.get('required'))}"


def _measured(document: Document, compared: Document | None) -> list[tuple[str, str]]:
    if compared is None:
        return [("fidelity", lines.fidelity_line(document.get("fidelity")))] if document.get("fidelity") else []
    latency, size, memory = compared["latency"], compared["size"], compared["memory"]
    return [
        ("latency", f"{_pair(latency, 'ms', quantities.time_ms)}, {latency['how']}"),
        ("size", _pair(size, "bytes", quantities.size)),
        ("memory", f"{_pair(memory, 'bytes', quantities.size)} at the peak of a process that only runs the model"),
        ("accuracy", lines.accuracy_line(compared["accuracy"])),
        ("fidelity", lines.fidelity_line(compared["fidelity"])),
    ]


def _pair(found: Document, unit: str, told: Any) -> str:
    return f"{told(found[f'before_{unit}'])} -> {told(found[f'after_{unit}'])}"


def _permission(part: Document) -> str:
    return str(part.get("why") or "")
