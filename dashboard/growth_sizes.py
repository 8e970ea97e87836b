"""Sizes at which growth is measured: which open dimension, three sizes of it, and the named shapes of the job."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import RequestError
from core.measure.growth import FEWEST_POINTS, MOST_POINTS
from dashboard import shape_fields
from dashboard.shape_fields import Field

Inputs = Sequence[Mapping[str, Any]]
Shapes = Mapping[str, Sequence[int]]

_FORM = re.compile(r"\s*\d+(\s*[,; ]\s*\d+)*\s*")


def open_sizes(inputs: Inputs, known: Shapes) -> tuple[Field, ...]:
    """The open dimensions that may be grown, the largest first: inputs of unknown rank have none.

    Args:
        inputs: name and shape of each, as in the `inspect` document.
        known: the shapes that are run so far, by input.
    """
    open_inputs = [spec for spec in inputs if shape_fields.is_open(spec) and spec["shape"] is not None]
    return tuple(sorted(shape_fields.fields(open_inputs, known), key=lambda field: -field.size))


def three_sizes(size: int) -> tuple[int, int, int]:
    """A quarter, a half and the whole of what is known to run; of a small size its multiples."""
    return (size // 4, size // 2, size) if size >= 4 else (size, 2 * size, 4 * size)


def read_sizes(text: str) -> tuple[int, ...]:
    """Sizes as a person writes them: "16, 32, 64".

    Raises:
        RequestError: no positive whole numbers, too few or too many different ones.
    """
    sizes = tuple(sorted({int(part) for part in re.findall(r"\d+", text)})) if _FORM.fullmatch(text) else ()
    if not sizes or sizes[0] < 1:
        raise RequestError(f"'{text}' are no sizes.", hint="Write positive whole numbers like 16, 32, 64.")
    if not FEWEST_POINTS <= len(sizes) <= MOST_POINTS:
        message = f"Growth is measured at {FEWEST_POINTS} to {MOST_POINTS} different sizes, not at {len(sizes)}."
        raise RequestError(message, hint="Write them like 16, 32, 64.")
    return sizes


def named_shapes(inputs: Inputs, known: Shapes, field: Field, sizes: Sequence[int]) -> list[dict[str, Any]]:
    """One named shape for each size of the dimension; whatever else is open keeps the size that is known."""
    return [{"name": f"{field.label} {size}", "shapes": _with_size(inputs, known, field, size)} for size in sizes]


def _with_size(inputs: Inputs, known: Shapes, field: Field, size: int) -> dict[str, list[int]]:
    found = {}
    for spec in inputs:
        name, shape = str(spec["name"]), known.get(str(spec["name"]))
        if shape is not None:
            places = {axis for of, axis in field.places if of == name}
            found[name] = [size if axis in places else int(one) for axis, one in enumerate(shape)]
    return found
