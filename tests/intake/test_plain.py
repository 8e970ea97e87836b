from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest

from core.intake.load import load_model
from tests.intake.texts import HEAD


def sparse(indices: list[int] | list[list[int]]) -> onnx.SparseTensorProto:
    values = onnx.numpy_helper.from_array(np.array([5.0, 7.0], np.float32), "w")
    return onnx.helper.make_sparse_tensor(values, onnx.numpy_helper.from_array(np.array(indices, np.int64)), [2, 3])


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_weights_become_dense_with_the_same_numbers(indices: list[int] | list[list[int]]) -> None:
    proto = onnx.parser.parse_model(HEAD + "g (float[n,2] x) => (float[n,3] y) { y = MatMul (x, w) }")
    proto.graph.sparse_initializer.append(sparse(indices))
    model = load_model(proto.SerializeToString())
    weight = model.ir.graph.initializers["w"].const_value
    assert weight is not None
    np.testing.assert_array_equal(weight.numpy(), [[0, 5, 0], [0, 0, 7]])
    assert model.repairs[0].what == "wrote sparse weights out densely"


def test_sparse_constants_become_dense_constants() -> None:
    proto = onnx.parser.parse_model(HEAD + "g (float[n,2] x) => (float[n,3] y) { y = MatMul (x, w) }")
    constant = onnx.helper.make_node("Constant", [], ["w"], sparse_value=sparse([1, 5]))
    proto.graph.node.insert(0, constant)
    model = load_model(proto.SerializeToString())
    np.testing.assert_array_equal(model.ir.graph[0].attributes["value"].as_tensor().numpy(), [[0, 5, 0], [0, 0, 7]])
