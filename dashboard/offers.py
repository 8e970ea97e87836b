"""Offers: which precisions the Mix page lets a person choose on this machine, and why the others are not there.

A precision is offered when the capability probe found it executed for at least one operator of the model that this
version can place into a graph in it. fp32 is always there. Of the others it is told what the machine could do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from core.recipe.precision import PLACEABLE, Precision, Support
from core.recipe.resolve import BUILDABLE
from core.report import quantities

_BEST_FIRST = (Support.EXECUTED, Support.EMULATED, Support.SIMULATED, Support.UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Offer:
    """One precision: whether it can be chosen, for which operators of the model, and why (not)."""

    precision: Precision
    offered: bool
    ops: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Capability:
    """What the probe found for one operator in one precision; `speedup` is against fp32."""

    state: Support
    speedup: float | None
    why: str


def capability_of(machine: Mapping[str, Any] | None, op: str, precision: Precision) -> Capability | None:
    """The best that was found for an operator over its signatures; None where it was not probed."""
    rows = [
        row for row in (machine or {}).get("capability", ()) if row["op"] == op and row["precision"] == str(precision)
    ]
    if not rows:
        return None
    best = min(rows, key=lambda row: (_BEST_FIRST.index(Support(row["state"])), -(row.get("speedup") or 0)))
    return Capability(Support(best["state"]), best.get("speedup"), best.get("why") or "")


def offered_in_int8(machine: Mapping[str, Any] | None) -> dict[str, Support] | None:
    """Operator -> what this machine does with it in int8, as `resolve` takes it; None where nothing was probed."""
    if machine is None:
        return None
    ops = {row["op"] for row in machine.get("capability", ()) if row["precision"] == str(Precision.INT8)}
    found = {op: capability_of(machine, op, Precision.INT8) for op in sorted(ops)}
    return {op: capability.state for op, capability in found.items() if capability is not None}


def offers(machine: Mapping[str, Any] | None, ops: Collection[str]) -> tuple[Offer, ...]:
    """Every precision of the desk, those that can be chosen first.

    Args:
        machine: the `machine` document; None: not probed yet, so only fp32 is offered.
        ops: the operators of the model.
    """
    found = [_offer(machine, precision, ops) for precision in Precision]
    return tuple(sorted(found, key=lambda offer: not offer.offered))


def _offer(machine: Mapping[str, Any] | None, precision: Precision, ops: Collection[str]) -> Offer:
    if precision is Precision.FP32:
        return Offer(precision, True, tuple(ops), "the model as it is")
    if machine is None:
        return Offer(precision, False, (), "this machine has not been probed yet")
    found = {op: capability_of(machine, op, precision) for op in ops}
    probed = {op: capability for op, capability in found.items() if capability is not None}
    executed = tuple(op for op, capability in probed.items() if capability.state is Support.EXECUTED)
    if precision not in PLACEABLE:
        return Offer(precision, False, executed, f"{_state(probed, executed)}; this version does not build it")
    built = tuple(op for op in executed if op in BUILDABLE)
    if not built:
        return Offer(precision, False, (), _state({op: each for op, each in probed.items() if op in BUILDABLE}, ()))
    return Offer(precision, True, built, f"executed here for {', '.join(built)}")


def _state(probed: Mapping[str, Capability], executed: Collection[str]) -> str:
    """What the probe says of a precision that is not simply executed."""
    if executed:
        return f"executed here for {', '.join(_with_speed(op, probed[op]) for op in executed)}"
    if not probed:
        return "not probed for the operators of this model"
    op, capability = min(probed.items(), key=lambda item: _BEST_FIRST.index(item[1].state))
    reason = f": {capability.why}" if capability.why else ""
    return f"{op} is {capability.state} on this machine{reason}"


def _with_speed(op: str, capability: Capability) -> str:
    """The best speed that was measured for an operator: "MatMul (2.82x)"."""
    return op if capability.speedup is None else f"{op} ({quantities.ratio(capability.speedup)})"
