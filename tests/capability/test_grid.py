"""The grid as a value: what it offers, its parts, and its cache."""

from __future__ import annotations

from core.capability.grid import Capability, CapabilityGrid
from core.recipe.precision import Precision, Support


def row(state: Support, precision: Precision = Precision.INT8, op: str = "Conv") -> Capability:
    timed = state in (Support.EXECUTED, Support.EMULATED)
    speedup, ci95 = (2.0, (1.9, 2.1)) if timed else (None, None)
    return Capability(op, "s", precision, "CPUExecutionProvider", state, speedup, ci95, "because")


def test_an_operator_is_offered_if_one_of_its_signatures_is_executed() -> None:
    for order in ((Support.UNAVAILABLE, Support.EXECUTED), (Support.EXECUTED, Support.UNAVAILABLE)):
        assert CapabilityGrid(tuple(map(row, order)), False).offered() == {"Conv": "executed"}
    assert CapabilityGrid((row(Support.UNAVAILABLE), row(Support.SIMULATED)), False).offered() == {"Conv": "simulated"}


def test_each_precision_is_offered_for_itself() -> None:
    grid = CapabilityGrid((row(Support.EXECUTED), row(Support.EMULATED, Precision.FP16)), False)
    assert grid.offered(Precision.FP16) == {"Conv": "emulated"}
    assert grid.offered(Precision.FP8) == {}


def test_parts_are_joined_in_order() -> None:
    parts = [
        CapabilityGrid((row(state),), saturates)
        for state, saturates in zip(Support, (False, True, False, False), strict=True)
    ]
    joined = CapabilityGrid.joined(parts)
    assert [each.state for each in joined.rows] == list(Support)
    assert joined.saturates


def test_the_grid_survives_its_cache() -> None:
    grid = CapabilityGrid(tuple(row(state, precision) for state in Support for precision in Precision), True)
    assert CapabilityGrid.from_dict(grid.to_dict()) == grid
