"""Asked and got: what was requested against what runs, and what was tried and not taken, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.report import quantities

#: Operators that only pass values on, so that the runtime may hand them 8-bit codes as they are.
_MOVERS = frozenset(
    {
        *("Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Slice"),
        *("SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
    }
)


def as_asked(row: Mapping[str, Any]) -> bool:
    """Whether a layer runs in the precision that was requested; what was folded away runs in none."""
    return bool(row["executed"] in (row["requested"], "folded"))


def reason(row: Mapping[str, Any]) -> str:
    """Why a layer has the precision it has; where the runtime runs another one than the file says, that first.

    The plan's reason speaks of the file, so it is left out where the layer runs as requested all the same.
    """
    why = str(row.get("why") or "")
    produced, executed = str(row["produced"]), str(row["executed"])
    if row["executed"] is None or executed in (produced, "folded"):
        return why
    if executed == "int8" and row["op"] in _MOVERS:
        told = f"placed as {produced}; the runtime moves the 8-bit codes through it"
    else:
        told = f"placed as {produced}; the runtime runs it in {executed}"
    return told if not why or executed == row["requested"] else f"{told} ({why})"


def asked_and_got(rows: Sequence[Mapping[str, Any]]) -> str:
    """The request against the result in one sentence: "Asked for int8 in 42 layers: 30 run so, 7 ..., 5 do not"."""
    asked = [row for row in rows if row["requested"] != "fp32"]
    if not asked:
        return "Nothing was asked to change: every layer stays in fp32."
    got = sum(1 for row in asked if row["executed"] == row["requested"])
    folded = sum(1 for row in asked if row["executed"] == "folded")
    missed = len(asked) - got - folded
    names = ", ".join(sorted({row["requested"] for row in asked}))
    parts = [f"{got} {'runs' if got == 1 else 'run'} so"]
    if folded:
        parts.append(f"{folded} {'is' if folded == 1 else 'are'} folded into other kernels")
    parts.append(f"{missed} {'does' if missed == 1 else 'do'} not" if missed else "none is missing")
    told = f"Asked for {names} in {quantities.counted(len(asked), 'layer')}: {', '.join(parts)}."
    drawn = sum(1 for row in rows if row["requested"] == "fp32" and not as_asked(row))
    if drawn:
        told += f" {quantities.counted(drawn, 'layer')} that {'was' if drawn == 1 else 'were'} to stay in fp32"
        told += f" {'does' if drawn == 1 else 'do'} not, by the runtime's own choice."
    return told


def tried(compared: Mapping[str, Any]) -> str:
    """What the mix that was measured and not taken would have done."""
    latency = compared.get("latency") or {}
    fidelity = compared.get("fidelity") or {}
    parts = []
    if latency.get("ratio") is not None:
        interval = latency.get("ci95")
        spread = f" [{quantities.three(interval[0])}, {quantities.three(interval[1])}]" if interval else ""
        times = " → ".join(quantities.times_ms(latency.get("before_ms"), latency.get("after_ms")))
        parts.append(f"{quantities.ratio(latency['ratio'])}{spread} ({times})")
    if fidelity.get("sqnr_db") is not None:
        parts.append(f"SQNR {quantities.with_unit(fidelity['sqnr_db'], 'dB')}")
    if fidelity.get("agreement") is not None:
        parts.append(f"agreement {quantities.share(fidelity['agreement'])}")
    return f"The best mix that was tried and not taken: {', '.join(parts) or 'it could not be measured'}."
