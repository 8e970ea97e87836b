"""The machine in words and tables: what it executes in which precision, its highest speeds, and what follows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from core.recipe.precision import Precision, Support
from core.report import quantities
from core.runtime.conditions import Conditions
from dashboard.figures.theme import precision_label
from dashboard.tables import Table, fitting, sentences

#: One shape per state, so that it can be told without colour: full, half, dotted, dash.
MARKS = {Support.EXECUTED: "●", Support.EMULATED: "◐", Support.SIMULATED: "◌", Support.UNAVAILABLE: "–"}
MEANING = {
    Support.EXECUTED: "a kernel of that precision runs",
    Support.EMULATED: "it runs, through casts to another type",
    Support.SIMULATED: "rounding is modelled to learn the accuracy; its latency means nothing",
    Support.UNAVAILABLE: "the runtime refuses it, or there is nothing to lower",
}
NOT_PROBED = "not probed"
#: Instruction sets that multiply 8-bit numbers and add in 32 bits at once.
_DOT_PRODUCTS = ("amx_int8", "avx512_vnni", "avx_vnni", "avx_vnni_int8", "i8mm", "dotprod")
_BUSY = 0.75

Rows = Sequence[Mapping[str, Any]]


def probed(machine: Mapping[str, Any]) -> tuple[Precision, ...]:
    """The precisions that the grid has rows of, in the order of the desk; fp32 is what the others are timed against."""
    found = {row["precision"] for row in machine.get("capability", ())}
    return tuple(precision for precision in Precision if precision is Precision.FP32 or str(precision) in found)


def operators(machine: Mapping[str, Any]) -> list[str]:
    """The operators that were tried, by name."""
    return sorted({row["op"] for row in machine.get("capability", ())})


def chosen(machine: Mapping[str, Any], *, ops: Collection[str] = (), states: Collection[str] = ()) -> dict[str, Any]:
    """The part of the grid of these operators, and of signatures that are in one of these states in some precision.

    Nothing chosen stands for all. fp32 is executed everywhere and decides nothing.
    """
    rows = [row for row in machine.get("capability", ()) if not ops or row["op"] in ops]
    told = {_name(row) for row in rows if row["precision"] != str(Precision.FP32) and row["state"] in states}
    return {**machine, "capability": [row for row in rows if not states or _name(row) in told]}


def grid(machine: Mapping[str, Any]) -> Table:
    """Operator x precision: state by shape and word, with the measured speed-up. Its ids name operator and shape."""
    cells: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in machine.get("capability", ()):
        cells.setdefault(_name(row), {})[row["precision"]] = row
    columns: dict[str, list[str]] = {
        "Op": [op for op, _ in cells],
        "Tried with": [signature for _, signature in cells],
    }
    # what was measured stands before what it was measured against, since narrow windows show the first columns
    for precision in sorted(probed(machine), key=lambda each: each is Precision.FP32):
        label = precision_label(str(precision))
        columns[label] = [cell_text(found.get(str(precision)), precision) for found in cells.values()]
    told = dict.fromkeys(columns, _HELP) | dict.fromkeys(("Op", "Tried with"))
    config = {name: fitting(name, texts, help_text=told[name]) for name, texts in columns.items()}
    return Table(pd.DataFrame(columns), config, tuple(f"{op} {signature}" for op, signature in cells))


_HELP = "State, and speed-up of the kernel alone against fp32; choose a row for intervals and reasons"


def cell_text(row: Mapping[str, Any] | None, precision: Precision) -> str:
    """One cell: "● executed 2.41x"; "not probed" where nobody tried."""
    if row is None:
        return f"{MARKS[Support.EXECUTED]} reference, 1x" if precision is Precision.FP32 else NOT_PROBED
    support = Support(row["state"])
    if precision is Precision.FP32 and support is Support.EXECUTED:
        return f"{MARKS[support]} reference, 1x"
    words = [MARKS[support], str(support)]
    if _has_speed(row):
        words.append(quantities.ratio(row["speedup"]))
    return " ".join(words)


def reasons(machine: Mapping[str, Any], chosen_id: str) -> Table:
    """Of one operator and shape: every precision with its interval and what the runtime ran, or why it refused."""
    rows = [row for row in machine.get("capability", ()) if " ".join(_name(row)) == chosen_id]
    order = {str(precision): number for number, precision in enumerate(Precision)}
    rows.sort(key=lambda row: order[row["precision"]])
    frame = pd.DataFrame(
        {
            "Precision": [precision_label(row["precision"]) for row in rows],
            "State": [f"{MARKS[Support(row['state'])]} {row['state']}" for row in rows],
            "Speed-up": [quantities.ratio(row["speedup"]) if _has_speed(row) else "" for row in rows],
            "95 % interval": [quantities.ratio_range(row["ci95"]) if _has_speed(row) else "" for row in rows],
            "Why": [row.get("why") or "" for row in rows],
        }
    )
    config = {name: fitting(name, list(frame[name])) for name in frame.columns[:-1]}
    return Table(frame, {**config, "Why": sentences("Why", frame["Why"])}, tuple(row["precision"] for row in rows))


def counted(machine: Mapping[str, Any]) -> Table:
    """Precision x state: how many of the tried operators and shapes, and how many are faster than fp32.

    Faster are those whose interval lies above 1.
    """
    shown = [precision for precision in probed(machine) if precision is not Precision.FP32]
    rows = {str(precision): [] for precision in shown}  # type: dict[str, list[Mapping[str, Any]]]
    for row in machine.get("capability", ()):
        rows.get(row["precision"], []).append(row)
    frame = pd.DataFrame(
        {
            "Precision": [precision_label(str(precision)) for precision in shown],
            **{
                f"{MARKS[support]} {support}": [
                    sum(row["state"] == str(support) for row in rows[str(precision)]) for precision in shown
                ]
                for support in Support
            },
            "Faster than fp32": [sum(_is_faster(row) for row in rows[str(precision)]) for precision in shown],
        }
    )
    config = {"Precision": fitting("Precision", list(frame["Precision"]))}
    return Table(frame, config, tuple(map(str, shown)))


def not_probed(machine: Mapping[str, Any]) -> str:
    """Which precisions were not tried yet, in a sentence; empty where all were."""
    missing = [str(precision) for precision in Precision if precision not in probed(machine)]
    return f"Not tried yet: {', '.join(missing)}. Probe the machine to fill these in." if missing else ""


def peaks(roofline: Mapping[str, Any]) -> Table:
    """The highest speeds: arithmetic per precision, memory and caches, each with unit and what reached it."""
    how, levels = roofline.get("how") or {}, roofline.get("levels") or {}
    found = [
        (precision_label(name), f"{quantities.three(value)} GFLOP/s", how.get(name, ""))
        for name, value in sorted(roofline["gflops"].items(), key=lambda item: -item[1])
    ]
    found.append(("Memory", f"{quantities.three(roofline['gbytes_per_s'])} GB/s", how.get("memory", "")))
    for level, size in levels.items():
        inside = [cache for cache in roofline.get("caches") or () if cache["bytes"] <= size]
        if inside:
            largest = max(inside, key=lambda cache: cache["bytes"])
            told = f"working set of {quantities.size(largest['bytes'])}, cache of {quantities.size(size)}"
            found.append((f"Cache {level}", f"{quantities.three(largest['gbytes_per_s'])} GB/s", told))
    frame = pd.DataFrame(found, columns=["What", "Highest speed", "Reached with"])
    config = {name: fitting(name, list(frame[name])) for name in ("What", "Highest speed")}
    config["Reached with"] = sentences("Reached with", frame["Reached with"])
    return Table(frame, config, tuple(frame["What"]))


def ridges(roofline: Mapping[str, Any]) -> str:
    """Where memory stops being the limit, in a sentence."""
    found = [
        f"{quantities.three(value / roofline['gbytes_per_s'])} in {name}" for name, value in roofline["gflops"].items()
    ]
    return (
        "A layer whose data comes from memory is bound by memory below so many operations per byte, by compute above: "
        f"{', '.join(found)}."
    )


def too_busy(roofline: Mapping[str, Any], here: Conditions) -> str:
    """That the speeds are too low, where the machine was busy when they were measured; else empty."""
    load = float(roofline.get("load_average") or 0.0)
    if not here.cores or load <= _BUSY * here.cores:
        return ""
    return (
        f"The machine was busy when this was measured (load {load:.2f} on {here.cores} cores): the speeds are rather "
        "too low. Probe again when it is quiet; the best that was ever reached counts."
    )


def consequences(here: Conditions, saturates: bool | None) -> tuple[str, ...]:
    """What follows from the processor for what is built and measured here; `saturates` is None before the probe."""
    found = []
    products = [name for name in _DOT_PRODUCTS if name in here.features]
    if products:
        found.append(f"{_shown(products[0])}: 8-bit products are added in 32 bits, which makes int8 kernels fast.")
    elif here.features:
        found.append(
            "No 8-bit dot product (VNNI, AMX, dotprod): int8 kernels multiply in 16-bit steps, so that int8 gains less "
            "here than on a processor that has one."
        )
    if saturates is None:
        found.append("Whether 8-bit weights saturate is not known before the probe.")
    elif saturates:
        found.append(
            "Sums of two 8-bit products saturate at 16 bits (seen in the probe): int8 weights are built with 7 bits, "
            "which keeps the sums exact and costs a little fidelity. Models quantized elsewhere with 8-bit weights may "
            "lose accuracy here."
        )
    else:
        found.append("8-bit products do not saturate (seen in the probe): int8 weights use all 8 bits.")
    if here.cores and here.load_average > _BUSY * here.cores:
        found.append(
            f"The machine is busy (load {here.load_average:.2f} on {here.cores} cores): what is timed now is noisy."
        )
    return tuple(found)


def _name(row: Mapping[str, Any]) -> tuple[str, str]:
    return row["op"], row.get("signature") or ""


def _has_speed(row: Mapping[str, Any]) -> bool:
    """What is simulated has no speed, whatever a document says."""
    return row.get("speedup") is not None and row["state"] in (Support.EXECUTED, Support.EMULATED)


def _is_faster(row: Mapping[str, Any]) -> bool:
    return _has_speed(row) and bool(row.get("ci95")) and row["ci95"][0] > 1


def _shown(feature: str) -> str:
    return feature.upper().replace("_", "-")
