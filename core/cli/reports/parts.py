"""Parts that several reports share: key-value lines, data, layers that are not what was asked, conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core.report import quantities

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


def data_line(data: Mapping[str, Any] | None) -> str:
    """The data in one line; synthetic data says so."""
    if data is None:
        return "none"
    splits = ", ".join(f"{count} {name}" for name, count in data["splits"].items())
    labels = "labelled" if data["labels"] else "no labels"
    if data["synthetic"]:
        return f"SYNTHETIC inputs ({data['samples']} samples: {splits}): figures say nothing of real data"
    remarks = "".join(f"; {remark}" for remark in data["remarks"])
    return f"{data['name']}: {data['samples']} samples ({splits}), {labels}{remarks}"


def precisions_line(layers: Sequence[Mapping[str, Any]], key: str) -> str:
    """How many layers have which value of `key`: "int8 42, fp32 7"."""
    counts: dict[str, int] = {}
    for layer in layers:
        name = str(layer[key] if layer[key] is not None else "not known")
        counts[name] = counts.get(name, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count}" for name, count in ranked)


def not_as_asked(console: Console, layers: Sequence[Mapping[str, Any]]) -> None:
    """Every layer that did not become what was asked, with the reason; layers with the same reason share a row."""
    reasons: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for layer in layers:
        if layer["requested"] != layer["produced"] or layer["executed"] not in {layer["produced"], None}:
            key = (layer["requested"], f"{layer['produced']} / {layer['executed']}", str(layer["why"]))
            reasons.setdefault(key, []).append(layer)
    if not reasons:
        console.print("Every layer is what was asked.")
        return
    total = sum(len(found) for found in reasons.values())
    shown = table(("asked", "produced / executed", "layers", "why"), title=f"{total} layers are not what was asked")
    for (asked, got, why), found in reasons.items():
        row(shown, asked, got, _names(found), why)
    console.print(shown)


def fidelity_line(fidelity: Mapping[str, Any] | None) -> str:
    """SQNR, cosine, KL and agreement in one line; what does not apply is left out."""
    if fidelity is None:
        return "not measured"
    known = {
        "SQNR": quantities.with_unit(fidelity.get("sqnr_db"), "dB"),
        "cosine": _long(fidelity.get("cosine")),
        "KL": quantities.three(fidelity.get("kl")),
        "agreement": quantities.share(fidelity.get("agreement")),
    }
    shown = [f"{name} {value}" for name, value in known.items() if value != quantities.NOT_KNOWN]
    return ", ".join(shown) or quantities.NOT_KNOWN


def accuracy_line(accuracy: Mapping[str, Any] | None) -> str:
    """The task's metric before and after with the interval of the change."""
    if not accuracy or accuracy.get("before") is None:
        return "no labels"
    change = accuracy.get("ci95_change")
    interval = "" if not change else f" (change {quantities.points(change[0])} to {quantities.points(change[1])})"
    before, after = quantities.share(accuracy["before"]), quantities.share(accuracy["after"])
    return f"{accuracy['metric']} {before} -> {after}{interval}"


def conditions_line(conditions: Mapping[str, Any]) -> str:
    """Under what a number was measured, in one line."""
    return (
        f"{conditions['cpu']}, {conditions['cores']} cores, onnxruntime {conditions['onnxruntime']}, "
        f"{conditions['provider']}, threads {conditions['threads']}, batch {conditions['batch']}, "
        f"seed {conditions['seed']}, load {conditions['load_average']}, {conditions['time']}"
    )


def _names(layers: Sequence[Mapping[str, Any]]) -> str:
    names = [str(layer["id"]) for layer in layers[:3]]
    more = len(layers) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def _long(value: float | None) -> str:
    """A cosine needs its digits: 0.99987."""
    return quantities.NOT_KNOWN if value is None else f"{value:.5f}"
