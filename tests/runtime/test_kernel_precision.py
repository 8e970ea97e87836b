from __future__ import annotations

import pytest

from core.runtime.executed import ExecutedNode
from core.runtime.kernel_precision import kernel_precision


@pytest.mark.parametrize(
    ("op_type", "element_types", "precision"),
    [
        ("Conv", ("float32", "float32"), "fp32"),
        ("Conv", ("float16", "float16"), "fp16"),
        ("Gemm", ("float64", "float64"), "fp64"),
        ("QLinearConv", ("uint8", "uint8"), "int8"),
        ("MatMulIntegerToFloat", ("uint8", "float32"), "int8"),
        ("DynamicQuantizeMatMul", ("float32", "float32"), "int8"),
        ("MaxPool", ("uint8", "uint8"), "int8"),
        ("Transpose", ("uint8", "uint8"), "int8"),
        ("Gather", ("int64", "float32"), "fp32"),
        ("Greater", ("float32", "float32", "bool"), "fp32"),
        ("Cast", ("float32", "float16"), None),
        ("QuantizeLinear", ("float32", "uint8"), None),
        ("Concat", ("int64", "int64"), None),
        ("StringConcat", ("str", "str"), None),
        ("RandomNormal", (), None),
    ],
)
def test_a_kernel_computes_in_what_its_operator_and_its_numbers_say(
    op_type: str, element_types: tuple[str, ...], precision: str | None
) -> None:
    node = ExecutedNode("n", op_type, "", (), ("layer",), None, element_types)
    assert kernel_precision(node) == precision
