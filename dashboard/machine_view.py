"""The machine in words and as a grid: what it executes in which precision, and what follows for what is built here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from core.recipe.precision import Precision, Support
from core.report import quantities
from core.runtime.conditions import Conditions
from dashboard.figures.theme import precision_label
from dashboard.tables import Table, fitting

#: One shape per state, so that it can be told without colour: full, half, dotted, dash.
MARKS = {Support.EXECUTED: "●", Support.EMULATED: "◐", Support.SIMULATED: "◌", Support.UNAVAILABLE: "–"}
MEANING = {
    Support.EXECUTED: "a kernel of that precision runs",
    Support.EMULATED: "it runs, through casts to another type",
    Support.SIMULATED: "rounding is modelled to learn the accuracy; its latency means nothing",
    Support.UNAVAILABLE: "the runtime refuses it",
}
NOT_PROBED = "not probed"
#: Instruction sets that multiply 8-bit numbers and add in 32 bits at once.
_DOT_PRODUCTS = ("amx_int8", "avx512_vnni", "avx_vnni", "avx_vnni_int8", "i8mm", "dotprod")
_BUSY = 0.75


def probed(machine: Mapping[str, Any]) -> tuple[Precision, ...]:
    """The precisions that the grid has rows of, in the order of the desk; fp32 is what the others are timed against."""
    found = {row["precision"] for row in machine.get("capability", ())}
    return tuple(precision for precision in Precision if precision is Precision.FP32 or str(precision) in found)


def grid(machine: Mapping[str, Any]) -> Table:
    """Operator x precision: state by shape and word, with the measured speed-up and its interval."""
    cells: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for row in machine.get("capability", ()):
        cells.setdefault((row["op"], row.get("signature") or ""), {})[row["precision"]] = row
    columns: dict[str, list[str]] = {
        "Op": [op for op, _ in cells],
        "Tried with": [signature for _, signature in cells],
    }
    # what was measured stands before what it was measured against, since narrow windows show the first columns
    for precision in sorted(probed(machine), key=lambda each: each is Precision.FP32):
        label = precision_label(str(precision))
        columns[label] = [cell_text(found.get(str(precision)), precision) for found in cells.values()]
    columns["Why"] = ["; ".join(filter(None, (row.get("why") for row in found.values()))) for found in cells.values()]
    told = dict.fromkeys(columns, _HELP) | dict.fromkeys(("Op", "Tried with", "Why"))
    config = {name: fitting(name, texts, help_text=told[name]) for name, texts in columns.items()}
    return Table(pd.DataFrame(columns), config, tuple(f"{op} {signature}" for op, signature in cells))


_HELP = "Speed-up of the kernel alone against fp32, with its 95 % interval"


def cell_text(row: Mapping[str, Any] | None, precision: Precision) -> str:
    """One cell: "● executed 2.41x [2.35, 2.47]"; empty where it was not probed."""
    if row is None:
        return f"{MARKS[Support.EXECUTED]} reference, 1x" if precision is Precision.FP32 else NOT_PROBED
    support = Support(row["state"])
    words = [MARKS[support], str(support)]
    if row.get("speedup") is not None and support in (Support.EXECUTED, Support.EMULATED):
        words.append(quantities.ratio(row["speedup"]))
        if row.get("ci95"):
            words.append(f"[{quantities.three(row['ci95'][0])}, {quantities.three(row['ci95'][1])}]")
    return " ".join(words)


def not_probed(machine: Mapping[str, Any]) -> str:
    """Which precisions this version does not probe, in a sentence; empty where it probes all."""
    missing = [str(precision) for precision in Precision if precision not in probed(machine)]
    return f"Not probed in this version: {', '.join(missing)}." if missing else ""


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


def _shown(feature: str) -> str:
    return feature.upper().replace("_", "-")
