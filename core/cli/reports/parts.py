"""Parts that several reports share: key-value lines, data, layers that are not what was asked, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core.report import quantities
from core.report.asked import reason
from core.report.lines import accuracy_line, conditions_line, data_line, fidelity_line, precisions_line, target_line

__all__ = [
    "Document", "accuracy_line", "conditions_line", "data_line", "fidelity_line", "file_line", "heading", "lines",
    "not_as_asked", "precisions_line", "row", "table", "target_line",
]  # fmt: skip

Document = Mapping[str, Any]


def heading(console: Console, text: str, detail: str = "") -> None:
    """A title in bold with what belongs to it."""
    console.print(Text(text, style="bold"), Text(detail, style="dim"))


def lines(console: Console, pairs: Iterable[tuple[str, str]]) -> None:
    """Names on the left, values on the right."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        grid.add_row(escape(name), Text(value))
    console.print(grid)


def file_line(document: Document) -> str:
    """Where the model was written; a model of several files with its weights."""
    if not document.get("output"):
        return "kept in the workspace (write it with -o NAME.onnx)"
    data = document.get("output_data")
    return f"{document['output']}, its large weights in {data} (keep both together)" if data else document["output"]


def table(columns: Sequence[str], *, numeric: Iterable[str] = (), title: str | None = None) -> Table:
    """An empty table; the numeric columns are right-aligned."""
    right = set(numeric)
    made = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="bold", header_style="dim")
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def row(into: Table, *cells: object) -> None:
    """Adds a row whose cells are plain text, whatever brackets a layer's name may hold."""
    into.add_row(*(Text(str(cell)) for cell in cells))


def not_as_asked(console: Console, layers: Sequence[Mapping[str, Any]]) -> None:
    """Every layer that did not become what was asked, with the reason; layers with the same reason share a row.

    What was folded into another kernel has no precision of its own any more, so it is not counted.
    """
    reasons: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for layer in layers:
        if layer["requested"] != layer["produced"] or layer["executed"] not in {layer["produced"], "folded", None}:
            key = (layer["requested"], f"{layer['produced']} / {layer['executed']}", reason(layer))
            reasons.setdefault(key, []).append(layer)
    if not reasons:
        console.print("Every layer is what was asked.")
        return
    total = sum(len(found) for found in reasons.values())
    title = f"{quantities.counted(total, 'layer')} {'is' if total == 1 else 'are'} not what was asked"
    shown = table(("asked", "produced / executed", "layers", "why"), title=title)
    for (asked, got, why), found in reasons.items():
        row(shown, asked, got, _names(found), why)
    console.print(shown)


def _names(layers: Sequence[Mapping[str, Any]]) -> str:
    names = [str(layer["id"]) for layer in layers[:3]]
    more = len(layers) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
