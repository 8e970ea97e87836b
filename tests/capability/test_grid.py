from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from core.capability.grid import Capability, CapabilityGrid, probe
from core.capability.operators import OPERATORS, OneOperator, feed, float_model, int8_model
from core.progress import Silent
from core.recipe.precision import Precision, Support
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings

SETTINGS = SessionSettings()


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: f"{o.op_type} {o.signature}")
def test_both_forms_are_valid_and_compute_the_same(operator: OneOperator) -> None:
    results = {}
    for dtype, model in (("float32", float_model(operator)), ("uint8", int8_model(operator, saturates=True))):
        proto = ir.to_proto(model)
        onnx.checker.check_model(proto)
        results[dtype] = run_session(open_session(proto.SerializeToString(), SETTINGS), feed(operator, dtype, 0))["y"]
    got = results["uint8"]
    if got.dtype == np.uint8:
        step = 1 / 128 if operator.weight is None else 0.25
        got = (got.astype(np.float32) - 128) * step
        inside = (got > -127 * step) & (got < 126 * step)
        assert np.abs(got - results["float32"])[inside].max() <= 2 * step
    else:
        assert np.corrcoef(got.ravel(), results["float32"].ravel())[0, 1] > 0.999


@pytest.fixture(scope="module")
def grid() -> CapabilityGrid:
    return probe(SETTINGS, Silent())


@pytest.mark.xdist_group("timing")
def test_the_grid_tells_of_every_operator_with_an_interval_around_its_ratio(grid: CapabilityGrid) -> None:
    assert {row.op for row in grid.rows} == {operator.op_type for operator in OPERATORS}
    for row in grid.rows:
        assert row.why
        assert row.state is Support.EXECUTED, f"{row.op} {row.signature}: {row.why}"
        assert row.speedup is not None
        assert row.ci95 is not None
        assert row.ci95[0] <= row.speedup <= row.ci95[1]


@pytest.mark.xdist_group("timing")
def test_the_grid_survives_its_cache(grid: CapabilityGrid) -> None:
    assert CapabilityGrid.from_dict(grid.to_dict()) == grid


def test_an_operator_is_offered_if_one_of_its_signatures_is_executed() -> None:
    def row(state: Support) -> Capability:
        return Capability("Conv", "s", Precision.INT8, "CPUExecutionProvider", state, None, None, "because")

    assert CapabilityGrid((row(Support.UNAVAILABLE), row(Support.EXECUTED)), False).offered()["Conv"] == "executed"
    assert CapabilityGrid((row(Support.UNAVAILABLE),), False).offered()["Conv"] == "unavailable"
