"""Sizes that a model leaves open, as fields to fill: one per symbol, one per unnamed axis, one per unknown shape."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import RequestError
from core.report import quantities

_SHAPE = re.compile(r"\s*\d+\s*([x×,*]\s*\d+\s*)*")


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in: a size that stands at these places (input, axis), or, with `whole`, an input's shape."""

    label: str
    places: tuple[tuple[str, int], ...]
    size: int = 1
    whole: str = ""

    @property
    def is_shape(self) -> bool:
        """Whether a whole shape is asked for, as text: the file does not even say how many axes there are."""
        return self.places[0][1] < 0


def is_open(spec: Mapping[str, Any]) -> bool:
    """Whether the file leaves anything open of this input's shape."""
    shape = spec["shape"]
    return shape is None or any(not isinstance(size, int) for size in shape)


def fields(inputs: Sequence[Mapping[str, Any]], known: Mapping[str, Sequence[int]]) -> tuple[Field, ...]:
    """What there is to fill in; a symbol that occurs several times is asked for once.

    Args:
        inputs: name and shape of each, as in the `inspect` document.
        known: shapes proposed or chosen so far, by input; they are what the fields begin with.
    """
    found: dict[str, Field] = {}
    for spec in inputs:
        name, shape = str(spec["name"]), spec["shape"]
        sizes = known.get(name, ())
        if shape is None:
            found[f"shape of {name}"] = Field(
                f"{name}, whole shape", ((name, -1),), whole=quantities.shape(sizes or (1,))
            )
            continue
        for axis, symbol in enumerate(shape):
            if isinstance(symbol, int):
                continue
            unnamed = symbol in ("?", "")
            label = f"{name}, axis {axis}" if unnamed else str(symbol)
            before = found.get(label)
            places = (*(before.places if before else ()), (name, axis))
            size = before.size if before else (sizes[axis] if axis < len(sizes) else 1)
            found[label] = Field(label, places, size=max(1, int(size)))
    return tuple(found.values())


def shapes_of(inputs: Sequence[Mapping[str, Any]], filled: Mapping[Field, int | str]) -> dict[str, tuple[int, ...]]:
    """The shapes of the open inputs, from what was filled in.

    Raises:
        RequestError: a whole shape is not written as 1x3x224x224.
    """
    at = {place: value for field, value in filled.items() for place in field.places}
    found: dict[str, tuple[int, ...]] = {}
    for spec in inputs:
        name, shape = str(spec["name"]), spec["shape"]
        if not is_open(spec):
            continue
        if shape is None:
            found[name] = read_shape(str(at[name, -1]), name)
        else:
            found[name] = tuple(
                size if isinstance(size, int) else int(at[name, axis]) for axis, size in enumerate(shape)
            )
    return found


def read_shape(text: str, name: str) -> tuple[int, ...]:
    """A shape as a person writes it: "1x3x224x224" or "1, 3, 224, 224".

    Raises:
        RequestError: it is something else; names the input.
    """
    if not _SHAPE.fullmatch(text):
        raise RequestError(f"'{text}' is no shape for input '{name}'.", hint="Write sizes like 1x3x224x224.")
    return tuple(int(size) for size in re.findall(r"\d+", text))


def told(shapes: Mapping[str, Sequence[int]], *, only: Sequence[str] | None = None) -> str:
    """Shapes for reading: "image 1x3x224x224, mask 1x224"."""
    names = list(shapes) if only is None else [name for name in shapes if name in only]
    return ", ".join(f"{name} {quantities.shape(shapes[name])}" for name in names)
