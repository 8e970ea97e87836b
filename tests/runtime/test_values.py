from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir
import pytest

from core.errors import RunError
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.values import as_array, as_values, run_values


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float16, np.uint8, np.int64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn]
)
def test_numbers_of_any_type_go_in_and_come_out(dtype: Any) -> None:
    array = np.array([[1, 2, 3], [4, 5, 6]]).astype(dtype)
    session = open_session(_turning(array.dtype), SessionSettings())
    (result,) = run_values(session, as_values({"x": array}))
    found = as_array(result)
    assert found.dtype == array.dtype
    assert (found.astype(np.float32) == array.T.astype(np.float32)).all()


def test_what_the_runtime_refuses_is_one_error() -> None:
    session = open_session(_turning(np.dtype(np.float32)), SessionSettings())
    with pytest.raises(RunError, match="failed to run"):
        run_values(session, as_values({"x": np.zeros((2, 3), np.float16)}))


def _turning(dtype: np.dtype[Any]) -> bytes:
    kind = ir.TensorType(ir.DataType.from_numpy(dtype))
    given = ir.Value(name="x", type=kind, shape=ir.Shape([2, 3]))
    node = ir.node("Transpose", [given], {"perm": [1, 0]})
    node.outputs[0].name = "y"
    node.outputs[0].type = kind
    graph = ir.Graph([given], node.outputs, nodes=[node], opset_imports={"": 21}, name="g")
    return bytes(ir.to_proto(ir.Model(graph, ir_version=10)).SerializeToString())
