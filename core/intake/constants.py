"""Constants: the inputs that no file feeds (states, rates, masks) get one declared value, the same in every sample."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.errors import DataError
from core.intake.feeds import Array
from core.intake.fit import shape_text
from core.intake.model import Model, TensorSpec
from core.intake.proposals import propose_shapes
from core.intake.targets import find_input

_MOST_ELEMENTS = 50_000_000


def constant_feeds(model: Model, constants: Mapping[str, Any], fed: Mapping[str, Array]) -> dict[str, Array]:
    """The arrays of the declared constants; open sizes follow those that the files' inputs have.

    Raises:
        DataError: a constant for no input, for one that the files feed, or of a value or size that does not fit.
    """
    shapes = propose_shapes(model, {name: array.shape for name, array in fed.items()})
    arrays: dict[str, Array] = {}
    for name, value in constants.items():
        spec = find_input(model, name)
        if name in fed:
            raise DataError(f"Input '{name}' is fed from the files and has a constant too.", hint="Leave one out.")
        arrays[name] = _array(spec, value, shapes.get(name))
    missing = [spec.name for spec in model.inputs if spec.name not in fed and spec.name not in arrays]
    if missing:
        hint = f'Add it to "constants" of the preprocessing: {{"{missing[0]}": 0}}.'
        raise DataError(f"Nothing feeds input '{missing[0]}'.", hint=hint)
    return arrays


def propose_constants(model: Model, fed: set[str], *, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A value for every other input, and one sentence for each that says so.

    Args:
        model: whose inputs they are.
        fed: names of the inputs that the files feed.
        values: pattern of a name -> the value known for it (for instance the sample rate).
    """
    constants: dict[str, Any] = {}
    for spec in model.inputs:
        if spec.name not in fed:
            known = (value for pattern, value in values.items() if re.search(pattern, spec.name.lower()))
            default = 1 if "mask" in spec.name.lower() else ("" if spec.dtype == "str" else 0)
            constants[spec.name] = next(known, default)
    told = [f"input '{name}' is fed with {value!r} throughout" for name, value in constants.items()]
    return constants, told


def _array(spec: TensorSpec, value: Any, shape: tuple[int, ...] | None) -> Array:
    dtype = np.dtype(object if spec.dtype == "str" else spec.dtype)
    if isinstance(value, Mapping):
        given = value.get("shape")
        if not isinstance(given, list | tuple) or not all(type(size) is int and size >= 0 for size in given):
            raise DataError(f"The constant for input '{spec.name}' has a shape that is no list of whole numbers.")
        value, shape = value.get("value", 0), tuple(given)
    try:
        array = np.asarray(value, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(f"The constant for input '{spec.name}' is no {spec.dtype}: {value!r}.") from error
    if array.ndim == 0:
        if shape is None:
            message = f"The number of dimensions of input '{spec.name}' is not in the file."
            raise DataError(message, hint='Give its constant as {"value": 0, "shape": [1, 2]}.')
        if np.prod(shape, dtype=float) > _MOST_ELEMENTS:
            raise DataError(f"The constant for input '{spec.name}' would be {shape_text(shape)}, which is too large.")
        return np.full(shape, array, dtype)
    return array
