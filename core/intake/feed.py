"""Feed: the arrays of one run, each as its input takes it, or one sentence that says which is not and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.errors import DataError, did_you_mean
from core.intake.feeds import Array
from core.intake.fit import shape_text
from core.intake.model import TensorSpec


def fitting_feed(specs: Sequence[TensorSpec], given: Any) -> dict[str, Array]:
    """The feed of one run.

    An array must have the element type that its input takes; numbers and lists of numbers become it where nothing but
    precision is lost.

    Args:
        specs: the model's inputs.
        given: input name -> array, number or nested lists.

    Raises:
        DataError: it is no mapping, an input is missing or unknown, or a value is not what its input takes.
    """
    if not isinstance(given, Mapping):
        message = f"A run takes arrays by the names of inputs, like {_example(specs)}, not {_kind(given)}."
        raise DataError(message, hint=f"Inputs: {_told(specs)}.")
    names = [spec.name for spec in specs]
    for name in given:
        if name not in names:
            message = f"The model has no input '{name}'.{did_you_mean(str(name), names)}"
            raise DataError(message, hint=f"Inputs: {_told(specs)}.")
    missing = [name for name in names if name not in given]
    if missing:
        raise DataError(f"The input '{missing[0]}' is missing.", hint=f"Inputs: {_told(specs)}.")
    return {spec.name: _shaped(spec, _typed(spec, given[spec.name])) for spec in specs}


def _typed(spec: TensorSpec, value: Any) -> Array:
    wanted = spec.dtype
    try:
        array = np.asarray(value)
    except ValueError as error:
        message = f"Input '{spec.name}' takes an array of {wanted}, not lists of unequal lengths."
        raise DataError(message) from error
    if wanted == "str" and array.dtype.kind in "OU" and all(isinstance(text, str) for text in array.flat):
        return array.astype(object)
    if array.dtype.name == wanted:
        return array
    plain = not isinstance(value, np.ndarray | np.generic)
    if plain and wanted != "str" and array.dtype.kind in "biuf":
        made = _made(array, wanted)
        if made is not None:
            return made
    found = _kind(value) if array.dtype.kind == "O" else f"{'text' if array.dtype.kind in 'US' else array.dtype.name}"
    hint = f"Convert the array: array.astype('{wanted}')." if array.dtype.kind in "biuf" else None
    raise DataError(f"Input '{spec.name}' takes {wanted or 'no tensor'}, not {found}.", hint=hint)


def _made(array: Array, wanted: str) -> Array | None:
    """Numbers without a type of their own in the input's type; None where that would change more than precision."""
    try:
        dtype: np.dtype[Any] = np.dtype(wanted)
    except TypeError:
        return None
    if not np.can_cast(array.dtype, dtype, casting="same_kind") and array.dtype.kind not in "iu":
        return None
    with np.errstate(over="ignore"):
        made = array.astype(dtype)
    same = dtype.kind == "f" or bool(np.all(made == array))
    return made if same else None


def _shaped(spec: TensorSpec, array: Array) -> Array:
    if spec.shape is None:
        return array
    fits = array.ndim == len(spec.shape) and all(
        isinstance(wanted, str) or wanted == size for wanted, size in zip(spec.shape, array.shape, strict=True)
    )
    if not fits:
        message = f"Input '{spec.name}' takes {shape_text(spec.shape)}, but the array has {shape_text(array.shape)}."
        raise DataError(
            message, hint="A batch of one sample has a 1 in front." if array.ndim < len(spec.shape) else None
        )
    return array


def _kind(value: Any) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _example(specs: Sequence[TensorSpec]) -> str:
    return "{" + (f"'{specs[0].name}': array" if specs else "") + "}"


def _told(specs: Sequence[TensorSpec]) -> str:
    return ", ".join(spec.name for spec in specs) or "none"
