"""What the runtime's nodes say about a precision: executed, emulated or simulated."""

from __future__ import annotations

import pytest

from core.capability.states import state_of
from core.recipe.precision import Precision, Support
from core.runtime.executed import ExecutedNode


def node(op_type: str, *types: str) -> ExecutedNode:
    return ExecutedNode(op_type, op_type, "", (), (), None, types)


FP32_CONV = node("Conv", "float32", "float32")
UNPACKED = node("DequantizeLinear", "float32")


@pytest.mark.parametrize(
    ("precision", "nodes", "support", "why", "has_speed"),
    [
        (Precision.FP32, [FP32_CONV], Support.EXECUTED, "runs Conv", False),
        (Precision.FP16, [node("Conv", "float16", "float16")], Support.EXECUTED, "on fp16", True),
        (Precision.FP16, [node("Gather", "int64", "float16")], Support.EXECUTED, "runs Gather on fp16", True),
        (Precision.FP16, [node("Cast", "float16", "float32"), FP32_CONV], Support.EMULATED, "no fp16 kernel", True),
        (Precision.BF16, [node("Cast", "bfloat16", "float32"), FP32_CONV], Support.EMULATED, "no bf16 kernel", True),
        (Precision.INT8, [node("QLinearConv", "uint8", "uint8")], Support.EXECUTED, "runs QLinearConv", True),
        (Precision.INT8, [node("QGemm", "uint8", "float32")], Support.EXECUTED, "runs QGemm", True),
        (Precision.INT8, [node("MaxPool", "uint8", "uint8")], Support.EXECUTED, "runs MaxPool", True),
        (Precision.INT8, [UNPACKED, FP32_CONV], Support.SIMULATED, "modelled around kernels of fp32", False),
        (Precision.INT8, [UNPACKED, node("QuantizeLinear")], Support.EXECUTED, "vanishes into the rounding", False),
        (Precision.INT8_DYNAMIC, [node("DynamicQuantizeLSTM", "float32")], Support.EXECUTED, "LSTM", True),
        (Precision.INT8_DYNAMIC, [node("DynamicQuantizeLinear"), FP32_CONV], Support.SIMULATED, "runs Conv", False),
        (Precision.INT8_WEIGHTS, [node("MatMulNBits", "float32")], Support.EXECUTED, "runs MatMulNBits", True),
        (Precision.INT4_WEIGHTS, [UNPACKED, FP32_CONV], Support.EMULATED, "in each run", True),
        (Precision.INT4_WEIGHTS, [FP32_CONV], Support.EMULATED, "when the model is opened", True),
        (Precision.A16W8, [node("Transpose", "uint16", "uint16")], Support.EXECUTED, "runs Transpose", True),
        (Precision.A16W8, [node("MatMulNBits", "float32")], Support.SIMULATED, "runs MatMulNBits", False),
        (Precision.A16W8, [node("QLinearConv", "uint8", "uint8")], Support.SIMULATED, "modelled", False),
        (Precision.FP8, [UNPACKED, FP32_CONV], Support.SIMULATED, "modelled", False),
        (Precision.FP8, [node("Transpose", "float8_e4m3fn", "float8_e4m3fn")], Support.EXECUTED, "Transpose", True),
    ],
)
def test_states(
    precision: Precision, nodes: list[ExecutedNode], support: Support, why: str, *, has_speed: bool
) -> None:
    state = state_of(precision, nodes)
    assert state.support is support
    assert why in state.why
    assert state.has_speed is has_speed


def test_layout_changes_are_no_kernels_of_their_own() -> None:
    nodes = [node("ReorderInput", "float32"), node("Conv", "float16", "float16")]
    assert state_of(Precision.FP16, nodes).support is Support.EXECUTED
