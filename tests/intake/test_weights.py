from __future__ import annotations

import onnx
import onnx.parser
import pytest

from core.errors import ModelError
from core.intake.load import load_model
from core.intake.weights import check_weights
from tests.intake.texts import HEAD

TEXT = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"


def proto_with(**fields: object) -> onnx.ModelProto:
    proto = onnx.parser.parse_model(HEAD + TEXT)
    weight = proto.graph.initializer[0]
    weight.Clear()
    weight.name = "w"
    for name, value in fields.items():
        if isinstance(value, list):
            getattr(weight, name).extend(value)
        else:
            setattr(weight, name, value)
    return proto


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"dims": [2], "data_type": 1, "raw_data": bytes(4)}, "holds 4 of 8 bytes"),
        ({"dims": [1 << 40], "data_type": 1, "raw_data": bytes(8)}, "of 4398046511104 bytes"),
        ({"dims": [2], "data_type": 1, "float_data": [1.0]}, "holds 1 of 2 numbers"),
        ({"dims": [-2], "data_type": 1, "raw_data": bytes(8)}, "has the shape"),
        ({"dims": [2], "data_type": 77, "raw_data": bytes(8)}, "unknown element type 77"),
    ],
)
def test_a_weight_that_does_not_fill_its_shape_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        load_model(proto_with(**fields).SerializeToString())
    assert "'w'" in refused.value.message


def test_four_bit_numbers_share_bytes() -> None:
    proto = proto_with(dims=[3], data_type=onnx.TensorProto.INT4, raw_data=bytes(2))
    assert list(check_weights(proto.graph)) == []


def test_a_sparse_weight_too_large_to_write_out_is_refused() -> None:
    proto = onnx.parser.parse_model(HEAD + TEXT.replace("<float[2] w = {1, 2}>", ""))
    sparse = proto.graph.sparse_initializer.add()
    sparse.values.name = "w"
    sparse.dims.extend([1 << 20, 1 << 20])
    with pytest.raises(ModelError, match="too large to be written out"):
        load_model(proto.SerializeToString())
