from __future__ import annotations

import pytest

from core.runtime.element_types import output_types


@pytest.mark.parametrize(
    ("op_type", "domain", "inputs", "expected"),
    [
        ("Relu", "", ["float32"], "float32"),
        ("Shape", "", ["float32"], "int64"),
        ("Transpose", "", ["uint8", ""], "uint8"),
        ("QuantizeLinear", "", ["float32", "float32", "int8"], "int8"),
        ("QuantizeLinear", "", ["float32", "float32"], "uint8"),
        ("QLinearConv", "", ["uint8", "float32", "uint8", "int8", "float32", "int8", "float32", "uint8"], "uint8"),
        ("QGemm", "com.microsoft", ["uint8", "float32", "uint8", "int8", "float32", "int8"], "float32"),
        (
            "QGemm",
            "com.microsoft",
            ["uint8", "float32", "uint8", "int8", "float32", "int8", "", "float32", "int8"],
            "int8",
        ),
        ("NoSuchOperator", "", ["float32"], ""),
    ],
)
def test_an_output_has_the_type_that_the_schema_binds_it_to(
    op_type: str, domain: str, inputs: list[str], expected: str
) -> None:
    assert output_types(op_type, domain, inputs, 1) == (expected,)


def test_every_output_of_a_split_has_the_type_of_its_input() -> None:
    assert output_types("Split", "", ["float16", "int64"], 3) == ("float16",) * 3
