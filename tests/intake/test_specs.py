from __future__ import annotations

import onnx_ir as ir
import pytest

from core.intake.specs import dtype_name, read_shape
from tests.intake.texts import load


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(ir.DataType.FLOAT, "float32"), (ir.DataType.BFLOAT16, "bfloat16"), (ir.DataType.STRING, "str"), (None, "")],
)
def test_element_types_have_numpy_names(dtype: ir.DataType | None, name: str) -> None:
    assert dtype_name(dtype) == name


def test_shapes_are_plain_values() -> None:
    assert read_shape(ir.Shape([1, "n", None])) == (1, "n", "?")
    assert read_shape(None) is None


def test_sequences_are_written_out() -> None:
    model = load("g (seq(float[n]) s) => (float[m] y) { y = ConcatFromSequence <axis = 0> (s) }")
    assert model.inputs[0].dtype == "seq(float32)"
    assert [finding.severity for finding in model.findings] == ["warning"]
