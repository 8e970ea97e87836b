"""Fit: whether arrays are what a model's inputs take, or one sentence that says which is not and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.errors import DataError, did_you_mean
from core.intake.feeds import Array
from core.intake.model import Model, TensorSpec

#: Element types that NPZ files hold as bare bytes, because numpy itself does not know them.
_WRITTEN_AS_BYTES = ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def stack_samples(spec: TensorSpec, array: Array) -> Array:
    """The array with one leading sample axis, so that `stacked[i]` is the feed of sample i; no data is copied.

    Raises:
        DataError: element type, rank or a fixed dimension does not fit the input.
    """
    array = _typed(spec, array)
    if spec.shape is None:
        return array
    rank = len(spec.shape)
    if array.ndim == rank + 1:
        stacked = array
    elif array.ndim == rank and rank > 0 and (isinstance(spec.shape[0], str) or spec.shape[0] == 1):
        stacked = array[:, np.newaxis]
    else:
        message = f"Input '{spec.name}' takes {shape_text(spec.shape)}, but the data has {shape_text(array.shape)}."
        raise DataError(message, hint=f"Give one feed per sample: {shape_text(('samples', *spec.shape))}.")
    for wanted, size in zip(spec.shape, stacked.shape[1:], strict=True):
        if isinstance(wanted, int) and wanted != size:
            sample = shape_text(stacked.shape[1:])
            message = f"Input '{spec.name}' takes {shape_text(spec.shape)}, but a sample has {sample}."
            raise DataError(message, hint="Resize, crop or pad the data to the model's size.")
    return stacked


def refuse_unknown(model: Model, names: Sequence[str]) -> None:
    """Refuses an array that belongs to no input.

    Raises:
        DataError: names the first such array and the nearest input.
    """
    known = [spec.name for spec in model.inputs]
    for name in names:
        if name not in known:
            wanted = ", ".join(f"'{spec.name}'" for spec in model.inputs) or "none"
            message = f"The model has no input '{name}'.{did_you_mean(name, known)}"
            raise DataError(message, hint=f"Its inputs: {wanted}. Labels are called 'y'.")


def refuse_missing(model: Model, names: Sequence[str]) -> None:
    """Refuses data without one of the inputs.

    Raises:
        DataError: names the first missing input.
    """
    for spec in model.inputs:
        if spec.name not in names:
            given = ", ".join(f"'{name}'" for name in names) or "nothing"
            raise DataError(f"The data has no array for input '{spec.name}'.", hint=f"It has {given}.")


def count_samples(inputs: Mapping[str, Array]) -> int:
    """How many samples there are, the same for all inputs.

    Raises:
        DataError: two inputs disagree, or there is none.
    """
    first, count = "", 0
    for name, array in inputs.items():
        if first and len(array) != count:
            raise DataError(f"Input '{first}' has {count} samples, but '{name}' has {len(array)}.")
        first, count = name, len(array)
    if not count:
        raise DataError("The data has no samples.", hint="Give at least one sample per input.")
    return count


def check_symbols(model: Model, inputs: Mapping[str, Array]) -> None:
    """Checks that a symbol such as "batch" stands for one size everywhere.

    Raises:
        DataError: two inputs give one symbol different sizes.
    """
    seen: dict[str, tuple[str, int]] = {}
    for spec in model.inputs:
        array = inputs.get(spec.name)
        if array is None or spec.shape is None:
            continue
        for symbol, size in zip(spec.shape, array.shape[1:], strict=True):
            if not isinstance(symbol, str) or symbol == "?":
                continue
            other, known = seen.setdefault(symbol, (spec.name, size))
            if known != size:
                where = f"{known} in input '{other}' and {size} in input '{spec.name}'"
                hint = "A size of one name must be the same in all inputs."
                raise DataError(f"The size '{symbol}' is {where}.", hint=hint)


def check_finite(name: str, array: Array, *, what: str = "Input") -> None:
    """Refuses NaN and infinite numbers.

    Raises:
        DataError: names the input and the first such sample.
    """
    if array.dtype.kind not in "fcV" and "float" not in str(array.dtype):
        return
    for index, sample in enumerate(array):
        if not np.isfinite(sample).all():
            kind = "NaN" if np.isnan(sample).any() else "an infinite number"
            hint = "Clean or leave out that sample; counting starts at 0."
            raise DataError(f"{what} '{name}' has {kind} in sample {index}.", hint=hint)


def batch_obstacle(model: Model) -> str | None:
    """Why samples cannot be concatenated along axis 0, or None where every input has the same open size in front."""
    fronts: dict[str, str] = {}
    for spec in model.inputs:
        if not spec.shape or isinstance(spec.shape[0], int):
            size = f"is fixed to {spec.shape[0]} in front" if spec.shape else "has no axis for it"
            return f"input '{spec.name}' {size}"
        if spec.shape[0] != "?":
            fronts.setdefault(spec.shape[0], spec.name)
    if len(fronts) > 1:
        (one, first), (other, second) = list(fronts.items())[:2]
        return f"inputs '{first}' and '{second}' have different sizes in front, '{one}' and '{other}'"
    return None if model.inputs else "the model has no inputs"


def shape_text(shape: Sequence[int | str]) -> str:
    """A shape as the user reads it: [batch, 3, 224, 224]."""
    return f"[{', '.join(str(size) for size in shape)}]"


def _typed(spec: TensorSpec, array: Array) -> Array:
    """The array in the input's element type where only its wrapping differs (strings, bfloat16 read back from disk)."""
    if spec.dtype == "str" and array.dtype.kind in "OUS":
        return array.astype(object) if array.dtype.kind != "S" else np.char.decode(array, "utf-8").astype(object)
    if array.dtype.name == spec.dtype:
        return array
    if array.dtype.kind == "V" and spec.dtype in _WRITTEN_AS_BYTES:
        dtype: np.dtype[Any] = np.dtype(spec.dtype)
        if dtype.itemsize == array.dtype.itemsize:
            return array.view(dtype)
    message = f"Input '{spec.name}' takes {spec.dtype or 'no tensor'}, but the data has {array.dtype.name}."
    raise DataError(message, hint=f"Convert the array: array.astype('{spec.dtype}')." if spec.dtype else None)
