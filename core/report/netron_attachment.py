"""Netron attachment: a profile as metrics that Netron shows beside the attributes of a node.

The format is the one that Netron 9 reads (`metadata.Attachment` in its `view.js`): a file ending in .json with the
signature `netron:attachment`; each metric has a kind (`model`, `node`, `value`), a target (the name), its own name,
and a value. Netron knows ONNX nodes by their name alone, up to the first line break, and gives all that share it the
same figures. A layer whose name is not its own, or that has none, therefore has its figures on the value that it
writes (a click on the edge).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from core.report import quantities
from core.report.file_nodes import FileNode, file_nodes
from core.report.lines import conditions_line

Document = Mapping[str, Any]
Metric = dict[str, str]

SIGNATURE = "netron:attachment"


def netron_attachment(document: Document, inspection: Document) -> dict[str, Any]:
    """The attachment of a `profile` document, with the `inspect` document of the same model."""
    nodes = list(file_nodes(document, inspection))
    node_targets = Counter(_target(node.name) for node in nodes)
    value_targets = Counter(_target(node.output) for node in nodes)
    metrics = list(_of_model(document))
    for node in nodes:
        if node.own_name and node_targets[_target(node.name)] == 1:
            metrics += _of_layer(node, "node", _target(node.name))
        elif node.output and value_targets[_target(node.output)] == 1:
            metrics += _of_layer(node, "value", _target(node.output))
    return {"signature": SIGNATURE, "metadata": [], "metrics": metrics}


def _target(name: str) -> str:
    return name.split("\n", 1)[0]


def _of_model(document: Document) -> Iterator[Metric]:
    """Netron's own name of a model is empty."""
    wall, memory = document.get("wall_ms") or {}, document.get("memory") or {}
    told = {
        "latency": _known(wall.get("median"), quantities.time_ms),
        "time in kernels": _known(document.get("kernel_ms"), quantities.time_ms),
        "between kernels": _known(document.get("gap_ms"), quantities.time_ms),
        "activation peak": _known(memory.get("activation_peak_bytes"), quantities.size),
        "measured": conditions_line(document["conditions"]) if document.get("conditions") else None,
    }
    yield from _metrics("model", "", told)


def _of_layer(node: FileNode, kind: str, target: str) -> Iterator[Metric]:
    row = node.row
    told = {
        "time": _known(row.get("ms"), quantities.time_ms),
        "share of time": _known(row.get("share"), quantities.share),
        "MACs": _known(row.get("macs"), quantities.count),
        "bytes moved": _known(row.get("bytes"), quantities.size),
        "FLOP per byte": _known(row.get("intensity"), quantities.three),
        "GFLOP/s": _known(row.get("gflops"), quantities.three),
        "of the attainable": _known(row.get("attained"), quantities.share),
        "bound by": row.get("limited_by"),
        "precision": row.get("precision"),
        "runs as": row.get("executes_as"),
        "runs": None if row.get("runs") in (None, 1) else quantities.three(row["runs"]),
    }
    yield from _metrics(kind, target, told)


def _metrics(kind: str, target: str, told: Mapping[str, str | None]) -> Iterator[Metric]:
    for name, value in told.items():
        if value:
            yield {"kind": kind, "target": target, "name": name, "value": str(value)}


def _known(value: float | None, write: Any) -> str | None:
    return None if value is None else str(write(value))
