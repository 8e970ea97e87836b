"""Weights: whether each stored tensor holds as many numbers as its shape says."""

from __future__ import annotations

import math
from collections.abc import Iterator

import onnx

from core.intake.model import Finding
from core.intake.protos import graphs_of, tensors_of
from core.intake.source import MOST_BYTES

_BROKEN = "The file is damaged; copy, download or export it again."
_NUMBERS = onnx.TensorProto
#: Where numbers are kept that are not raw bytes, for types with one entry per number.
_FIELDS: dict[int, str] = {
    _NUMBERS.FLOAT: "float_data",
    _NUMBERS.DOUBLE: "double_data",
    _NUMBERS.INT64: "int64_data",
    _NUMBERS.INT32: "int32_data",
    _NUMBERS.INT16: "int32_data",
    _NUMBERS.INT8: "int32_data",
    _NUMBERS.UINT16: "int32_data",
    _NUMBERS.UINT8: "int32_data",
    _NUMBERS.BOOL: "int32_data",
    _NUMBERS.FLOAT16: "int32_data",
    _NUMBERS.BFLOAT16: "int32_data",
    _NUMBERS.UINT32: "uint64_data",
    _NUMBERS.UINT64: "uint64_data",
    _NUMBERS.STRING: "string_data",
}


def check_weights(graph: onnx.GraphProto) -> Iterator[Finding]:
    """Yields an error for each tensor whose numbers do not fill its shape, or would fill all memory."""
    for tensor in tensors_of(graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            message = _problem(tensor)
            if message is not None:
                yield Finding("error", f"The weight '{tensor.name}' {message}.", _BROKEN)
    for inner in graphs_of(graph):
        for sparse in inner.sparse_initializer:
            if math.prod(sparse.dims) * 8 > MOST_BYTES or min(sparse.dims, default=0) < 0:
                message = f"The sparse weight '{sparse.values.name}' is too large to be written out densely."
                yield Finding("error", message, "Export the model with smaller or dense weights.")


def _problem(tensor: onnx.TensorProto) -> str | None:
    if not is_known_type(tensor.data_type):
        return f"has the unknown element type {tensor.data_type}"
    if any(size < 0 for size in tensor.dims):
        return f"has the shape {list(tensor.dims)}"
    elements = math.prod(tensor.dims)
    if tensor.HasField("raw_data") and "FLOAT6" not in onnx.TensorProto.DataType.Name(tensor.data_type):
        wanted = math.ceil(elements * bits_of(tensor.data_type) / 8)
        return None if len(tensor.raw_data) == wanted else f"holds {len(tensor.raw_data)} of {wanted} bytes"
    field = _FIELDS.get(tensor.data_type)
    if field is None:
        return None
    count = len(getattr(tensor, field))
    return None if count == elements else f"holds {count} of {elements} numbers"


def is_known_type(element: int) -> bool:
    """Whether numbers of this type can be read."""
    return element in onnx.helper.get_all_tensor_dtypes()


def bits_of(element: int) -> int:
    """Bits of one number as stored: 4-bit numbers share bytes."""
    name = onnx.TensorProto.DataType.Name(element)
    if name.endswith(("INT4", "FLOAT4E2M1")):
        return 4
    if name.endswith("INT2"):
        return 2
    return int(onnx.helper.tensor_dtype_to_np_dtype(element).itemsize) * 8
