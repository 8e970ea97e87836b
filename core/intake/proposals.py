"""Proposals: sizes for the dimensions that a model leaves open, so that it can be run and counted without data.

Batch is 1, a sequence 32, an image 224 x 224; the same symbol has the same size everywhere it occurs. A proposal is a
guess from names and positions: the real sizes come from data or from the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.intake.model import Model, TensorSpec

BATCH = 1
SEQUENCE = 32
PAST = 8
CHANNELS = 3
IMAGE = 224
WIDE_IMAGE = 320
SIGNAL = 512

#: Line images (text recognition) have a small fixed height and are wider than high.
_LINE_HEIGHT = 64
_IMAGE_CHANNELS = (1, 3, 4)
_WORDS: tuple[tuple[str, int], ...] = (
    (r"past", PAST),
    (r"total", PAST + SEQUENCE),
    (r"batch|^n$|^b$|^bs$", BATCH),
    (r"chan", CHANNELS),
    (r"height|width|^h$|^w$", IMAGE),
    (r"seq|len|token|time|frame|step|atom|node|edge|word|num_", SEQUENCE),
    (r"sample|audio|wave|signal", SIGNAL),
)


def propose_shapes(model: Model, given: Mapping[str, tuple[int, ...]] | None = None) -> dict[str, tuple[int, ...]]:
    """Proposes a shape for every input that has a known rank.

    Args:
        model: the model whose inputs are open.
        given: shapes that are already decided, by input name; their sizes hold for the same symbols elsewhere.

    Returns:
        Input name -> shape with the file's fixed dimensions kept; an unknown rank that is not given is left out.
    """
    proposal = {name: tuple(shape) for name, shape in (given or {}).items()}
    has_past = any("past" in str(symbol) for spec in model.inputs for symbol in spec.shape or ())
    sizes = _sizes_of(model, proposal)
    for spec in model.inputs:
        if spec.shape is None or spec.name in proposal:
            continue
        proposal[spec.name] = tuple(
            dimension if isinstance(dimension, int) else _size(spec, axis, dimension, sizes, has_past=has_past)
            for axis, dimension in enumerate(spec.shape)
        )
    return proposal


def _sizes_of(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Symbol -> size, as far as given shapes say."""
    return {
        dimension: size
        for spec in model.inputs
        for dimension, size in zip(spec.shape or (), shapes.get(spec.name, ()), strict=False)
        if isinstance(dimension, str) and dimension != "?"
    }


def _size(spec: TensorSpec, axis: int, symbol: str, sizes: dict[str, int], *, has_past: bool) -> int:
    """The size of one open dimension; remembered by the symbol's name, not for the anonymous "?"."""
    if symbol in sizes:
        return sizes[symbol]
    size = _by_word(symbol, has_past=has_past)
    if size is None:
        size = _by_position(spec.shape or (), axis, spec.dtype)
    if symbol != "?":
        sizes[symbol] = size
    return size


def _by_word(symbol: str, *, has_past: bool) -> int | None:
    for pattern, size in _WORDS:
        if re.search(pattern, symbol.lower()):
            return size if has_past or pattern != "total" else SEQUENCE
    return None


def _by_position(shape: Sequence[int | str], axis: int, dtype: str) -> int:
    if axis == 0:
        return BATCH if len(shape) > 1 else SEQUENCE
    if axis == 1 and len(shape) > 2 and isinstance(shape[0], int) and shape[0] != 1:
        return BATCH  # a recurrent state: [layers, batch, features]
    if len(shape) == 4 and _looks_like_image(shape):
        return CHANNELS if axis == 1 else _image_side(shape, axis)
    if len(shape) == 2 and dtype.startswith("float") and shape[0] in ("?", 1):
        return SIGNAL
    return SEQUENCE


def _looks_like_image(shape: Sequence[int | str]) -> bool:
    return isinstance(shape[1], str) or shape[1] in _IMAGE_CHANNELS


def _image_side(shape: Sequence[int | str], axis: int) -> int:
    other = shape[5 - axis]
    if not isinstance(other, int):
        return IMAGE
    return WIDE_IMAGE if axis == 3 and other < _LINE_HEIGHT else other
