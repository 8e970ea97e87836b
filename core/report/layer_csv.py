"""Tables as CSV: the layers of a profile, build or optimize document, ratios of a comparison, cells of a sweep.

Full names, plain numbers with the unit in the header, nothing rounded; what is not known is an empty cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from core.errors import RequestError

Document = Mapping[str, Any]

_PROFILE = {
    "layer": "id",
    "group": "group",
    "op": "op",
    "time_ms": "ms",
    "share": "share",
    "macs": "macs",
    "bytes": "bytes",
    "flop_per_byte": "intensity",
    "gflop_per_s": "gflops",
    "attained_share": "attained",
    "limited_by": "limited_by",
    "precision": "precision",
    "executes_as": "executes_as",
    "runs": "runs",
}
_OUTCOME = {
    "layer": "id",
    "group": "group",
    "op": "op",
    "requested": "requested",
    "produced": "produced",
    "executed": "executed",
    "why": "why",
}
_RATIOS = ("latency", "p95", "throughput", "size", "memory")
#: A spreadsheet takes text that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def document_csv(document: Document) -> str:
    """The table of a `profile`, `build`, `optimize`, `compare` or `sweep` document.

    Raises:
        RequestError: the document has no table.
    """
    layers = document.get("layers")
    if layers and "executed" in layers[0]:
        return _outcomes(document)
    if layers:
        return rows_csv(list(_PROFILE), ([row.get(key) for key in _PROFILE.values()] for row in layers))
    if document.get("ratio"):
        return _comparison(document)
    if document.get("cells"):
        return _cells(document)
    raise RequestError("This result has no table to write as CSV.")


def rows_csv(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV text (RFC 4180 but for the line ends, which are of one sign)."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return stream.getvalue()


def _outcomes(document: Document) -> str:
    """What was requested, produced and executed, with the times before and after where they were measured."""
    before, after = _times(document.get("original_profile")), _times(document.get("profile"))
    rows = []
    for row in document["layers"]:
        times = (before.get(row["id"]), after.get(row["id"]))
        rows.append([*(row.get(key) for key in _OUTCOME.values()), *times])
    return rows_csv([*_OUTCOME, "before_ms", "after_ms"], rows)


def _times(profile: Document | None) -> dict[str, float | None]:
    return {row["id"]: row.get("ms") for row in (profile or {}).get("layers") or ()}


def _comparison(document: Document) -> str:
    latency, size, memory = (document.get(key) or {} for key in ("latency", "size", "memory"))
    each = document.get("throughput") or {}
    pairs = {
        "latency": ("ms", latency.get("before_ms"), latency.get("after_ms")),
        "p95": ("ms", latency.get("before_p95_ms"), latency.get("after_p95_ms")),
        "throughput": ("samples/s", each.get("before_per_s"), each.get("after_per_s")),
        "size": ("bytes", size.get("before_bytes"), size.get("after_bytes")),
        "memory": ("bytes", memory.get("before_bytes"), memory.get("after_bytes")),
    }
    rows: list[list[Any]] = []
    for name in _RATIOS:
        found = document["ratio"].get(name)
        value = found.get("value") if isinstance(found, Mapping) else found
        low, high = (found.get("ci95") if isinstance(found, Mapping) else None) or (None, None)
        rows.append([name, *pairs[name], value, low, high])
    return rows_csv(("measure", "unit", "before", "after", "ratio", "ci95_low", "ci95_high"), rows + _answers(document))


def _cells(document: Document) -> str:
    """One row for each cell of a sweep; `why` says why it could not run."""
    rows: list[list[Any]] = []
    for cell in document["cells"]:
        latency, rate = cell["latency_ms"] or {}, cell["throughput_ci95"] or (None, None)
        low, high = latency.get("ci95") or (None, None)
        times = [latency.get("median"), latency.get("mean"), low, high, latency.get("p95"), latency.get("basis")]
        rows.append([cell["threads"], cell["batch"], cell["throughput"], *rate, *times, cell["runs"], cell["why"]])
    times_ms = ("median_ms", "mean_ms", "mean_ci95_low_ms", "mean_ci95_high_ms", "p95_ms", "basis")
    rate_header = ("samples_per_s", "samples_per_s_ci95_low", "samples_per_s_ci95_high")
    return rows_csv(("threads", "batch", *rate_header, *times_ms, "runs", "why"), rows)


def _answers(document: Document) -> list[list[Any]]:
    accuracy, fidelity = document.get("accuracy") or {}, document.get("fidelity") or {}
    rows = [
        [f"fidelity {key}", "", None, fidelity.get(key), *(None,) * 3] for key in ("sqnr_db", "cosine", "agreement")
    ]
    if accuracy.get("metric"):
        measured = (accuracy.get("before"), accuracy.get("after"))
        rows.insert(0, [f"accuracy {accuracy['metric']}", "", *measured, *(None,) * 3])
    return rows


def _cell(value: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets an apostrophe in front: names come from models."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
