"""The probe builds, opens, runs, reads back and times; states are found, not listed. No speed is asserted."""

from __future__ import annotations

import numpy as np
import pytest

from core.capability import probe as probing
from core.capability.forms import Form, NoForm, forms
from core.capability.grid import Capability
from core.capability.operators import OPERATORS, Activation, OneOperator, product
from core.capability.probe import probe
from core.progress import Silent
from core.recipe.precision import Precision, Support
from core.recipe.resolve import BUILDABLE
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.values import as_array, as_values, run_values

CONV = next(operator for operator in OPERATORS if operator.op_type == "Conv")
RELU = OneOperator("Relu", "small", (Activation((1, 64)),), low=0.0)
SETTINGS = SessionSettings()


def tried(operator: OneOperator, precision: Precision) -> Capability:
    (row,) = probe(SETTINGS, Silent(), precisions=(precision,), operators=(operator,)).rows
    return row


@pytest.mark.xdist_group("timing")
@pytest.mark.parametrize(
    ("operator", "precision", "state"),
    [
        (product("MatMul", (4,), 64, 32), Precision.FP32, Support.EXECUTED),
        (product("MatMul", (4,), 64, 32), Precision.INT8, Support.EXECUTED),
        (product("MatMul", (4,), 64, 32), Precision.INT8_DYNAMIC, Support.EXECUTED),
        (product("MatMul", (4,), 64, 32), Precision.INT4_WEIGHTS, Support.EXECUTED),
        (CONV, Precision.INT8, Support.EXECUTED),
        (CONV, Precision.INT8_WEIGHTS, Support.EMULATED),
        (CONV, Precision.A16W8, Support.SIMULATED),
        (CONV, Precision.FP8, Support.SIMULATED),
        (CONV, Precision.BF16, Support.UNAVAILABLE),
        (RELU, Precision.INT8, Support.EXECUTED),
        (RELU, Precision.INT8_WEIGHTS, Support.UNAVAILABLE),
    ],
    ids=lambda each: each.op_type if isinstance(each, OneOperator) else str(each),
)
def test_every_state_is_found_on_a_processor(operator: OneOperator, precision: Precision, state: Support) -> None:
    row = tried(operator, precision)
    assert (row.op, row.precision, row.state) == (operator.op_type, precision, state)
    assert row.why
    if row.speedup is not None:
        assert row.ci95 is not None
        assert row.ci95[0] <= row.speedup <= row.ci95[1]
    assert (row.speedup is not None) == (state in (Support.EXECUTED, Support.EMULATED) and "vanishes" not in row.why)


def test_wrong_results_make_a_precision_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of onnxruntime 1.32, which drops a Relu between fp8 conversions."""
    identity = OneOperator("Identity", "small", RELU.operands, low=0.0)
    monkeypatch.setattr(
        probing, "forms", lambda op, to, **more: forms(identity if to is Precision.FP16 else op, to, **more)
    )
    row = tried(RELU, Precision.FP16)
    assert row.state is Support.UNAVAILABLE
    assert "results are wrong" in row.why
    assert row.speedup is None


def test_where_fp32_is_refused_there_is_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = OneOperator("NoSuchOperator", "small", RELU.operands)
    monkeypatch.setattr(
        probing, "forms", lambda op, to, **more: forms(unknown if to is Precision.FP32 else op, to, **more)
    )
    assert tried(RELU, Precision.FP32).state is Support.UNAVAILABLE
    assert tried(RELU, Precision.INT8).speedup is None


def test_operators_have_distinct_signatures_and_all_kinds_are_there() -> None:
    names = [(operator.op_type, operator.signature) for operator in OPERATORS]
    assert len(set(names)) == len(names)
    kinds = {op for op, _ in names}
    assert kinds >= {"Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "Add", "Mul", "Softmax", "Gather"}
    assert kinds >= BUILDABLE, "what can be built is decided by the grid"
    assert sum(op == "Conv" for op, _ in names) > 3


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: f"{each.op_type} {each.signature}")
def test_integer_forms_compute_what_fp32_does(operator: OneOperator) -> None:
    expected = result_of(operator, Precision.FP32)
    for precision in (Precision.INT8, Precision.INT8_DYNAMIC, Precision.INT8_WEIGHTS):
        if not isinstance(forms(operator, precision), NoForm):
            noise = result_of(operator, precision) - expected
            assert 10 * np.log10(np.square(expected).sum() / max(np.square(noise).sum(), 1e-30)) > 15, precision


def result_of(operator: OneOperator, precision: Precision) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    written = forms(operator, precision, saturates=True)
    assert not isinstance(written, NoForm)
    form: Form = written[0]
    session = open_session(serialized(form), SETTINGS)
    return np.asarray(form.values(as_array(run_values(session, as_values(form.feed))[0])), np.float32)


def serialized(form: Form) -> bytes:
    import onnx_ir as ir

    return bytes(ir.to_proto(form.model).SerializeToString())
