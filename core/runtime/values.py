"""Values: feeding a session numbers of types that NumPy has no name of its own for (bfloat16, float8)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir
import onnxruntime as ort

from core.errors import RunError
from core.runtime.session import RUNTIME_FAILURES, Session, reason_of

Value: TypeAlias = ort.OrtValue
_OWN_KINDS = frozenset("biuf")


def as_values(feed: Mapping[str, np.ndarray[Any, np.dtype[Any]]]) -> dict[str, Value]:
    """The runtime's values of these arrays; arrays of `ml_dtypes` keep their type."""
    return {name: _value(array) for name, array in feed.items()}


def run_values(session: Session, values: Mapping[str, Value]) -> Sequence[Value]:
    """Runs once; results stay with the runtime, whatever their type.

    Raises:
        RunError: the runtime failed on them.
    """
    try:
        return list(session.run_with_ort_values(None, dict(values)))
    except RUNTIME_FAILURES as error:
        raise RunError(f"onnxruntime failed to run the model: {reason_of(error)}") from error


def as_array(value: Value) -> np.ndarray[Any, np.dtype[Any]]:
    """A copy of a value as an array, of an `ml_dtypes` type where NumPy has none of its own."""
    dtype = np.dtype(ir.DataType(value.element_type()).numpy())
    stored = ctypes.string_at(value.data_ptr(), value.tensor_size_in_bytes())
    return np.frombuffer(stored, dtype).reshape(value.shape())


def _value(array: np.ndarray[Any, np.dtype[Any]]) -> Value:
    if array.dtype.kind in _OWN_KINDS and array.dtype.isbuiltin == 1:
        return ort.OrtValue.ortvalue_from_numpy(array)
    stored = np.ascontiguousarray(array).view(f"uint{8 * array.dtype.itemsize}")
    return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(stored, int(ir.DataType.from_numpy(array.dtype)))
