"""Proposals: sizes for the dimensions that a model leaves open, so that it can be run and counted without data.

Batch is 1, a sequence 32, an image 224 x 224; the same symbol has the same size everywhere it occurs. A proposal is a
guess from names and positions: the real sizes come from data or from the user. Where it does not run, others are tried.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.intake.model import Model, TensorSpec

BATCH = 1
SEQUENCE = 32
PAST = 8
CHANNELS = 3
IMAGE = 224
WIDE_IMAGE = 320
SIGNAL = 512


@dataclass(frozen=True, slots=True)
class Sizes:
    """What open dimensions of a kind are proposed to be."""

    height: int = IMAGE
    width: int = IMAGE
    sequence: int = SEQUENCE
    signal: int = SIGNAL


#: What else to try where the first proposal does not run: lines of text, multiples of 32, the sizes of known networks.
_OTHERS = (
    Sizes(48, 320, 128, 16_000),
    Sizes(32, 320, 64, 576),
    Sizes(32, 100, 16, 480),
    Sizes(256, 256, 512, 1024),
    Sizes(320, 320, 256, 4096),
    Sizes(640, 640, 1, 8000),
    Sizes(512, 512, 8, 256),
    Sizes(128, 128, 100, 160),
    Sizes(64, 64, 10, 48_000),
    Sizes(299, 299, 384, 22_050),
    Sizes(32, 32, 2, 44_100),
    Sizes(28, 28, 1000, 3000),
)
#: Line images (text recognition) have a small fixed height and are wider than high.
_LINE_HEIGHT = 64
_IMAGE_CHANNELS = (1, 3, 4)
_WORDS: tuple[tuple[str, str], ...] = (
    (r"past", "past"),
    (r"total", "total"),
    (r"batch|^n$|^b$|^bs$", "batch"),
    (r"chan", "channels"),
    (r"height|^h$", "height"),
    (r"width|^w$", "width"),
    (r"seq|len|token|time|frame|step|atom|node|edge|word|num_", "sequence"),
    (r"sample|audio|wave|signal", "signal"),
)


def propose_shapes(
    model: Model, given: Mapping[str, tuple[int, ...]] | None = None, *, kinds: Sizes | None = None
) -> dict[str, tuple[int, ...]]:
    """Proposes a shape for every input that has a known rank.

    Args:
        model: the model whose inputs are open.
        given: shapes that are already decided, by input name; their sizes hold for the same symbols elsewhere.
        kinds: other sizes than the usual ones, where those do not run.

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
            dimension if isinstance(dimension, int) else _size(spec, axis, sizes, kinds, has_past=has_past)
            for axis, dimension in enumerate(spec.shape)
        )
    return proposal


def other_shapes(model: Model, given: Mapping[str, tuple[int, ...]]) -> Iterator[dict[str, tuple[int, ...]]]:
    """Proposals that differ from the first and from each other, the likelier earlier."""
    seen = [propose_shapes(model, given)]
    for kinds in _OTHERS:
        proposal = propose_shapes(model, given, kinds=kinds)
        if proposal not in seen:
            seen.append(proposal)
            yield proposal


def _sizes_of(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Symbol -> size, as far as given shapes say."""
    return {
        dimension: size
        for spec in model.inputs
        for dimension, size in zip(spec.shape or (), shapes.get(spec.name, ()), strict=False)
        if isinstance(dimension, str) and dimension != "?"
    }


def _size(spec: TensorSpec, axis: int, sizes: dict[str, int], kinds: Sizes | None, *, has_past: bool) -> int:
    """The size of one open dimension; remembered by the symbol's name, not for the anonymous "?"."""
    symbol = str((spec.shape or ())[axis])
    if symbol in sizes:
        return sizes[symbol]
    size = _by_word(symbol, kinds or Sizes(), has_past=has_past)
    if size is None:
        size = _by_position(spec.shape or (), axis, spec.dtype, kinds)
    if symbol != "?":
        sizes[symbol] = size
    return size


def _by_word(symbol: str, kinds: Sizes, *, has_past: bool) -> int | None:
    known = {
        "past": PAST,
        "total": PAST + kinds.sequence if has_past else kinds.sequence,
        "batch": BATCH,
        "channels": CHANNELS,
        "height": kinds.height,
        "width": kinds.width,
        "sequence": kinds.sequence,
        "signal": kinds.signal,
    }
    return next((known[kind] for pattern, kind in _WORDS if re.search(pattern, symbol.lower())), None)


def _by_position(shape: Sequence[int | str], axis: int, dtype: str, kinds: Sizes | None) -> int:
    usual = kinds or Sizes()
    if axis == 0:
        return BATCH if len(shape) > 1 else usual.sequence
    if axis == 1 and len(shape) > 2 and isinstance(shape[0], int) and shape[0] != 1:
        return BATCH  # a recurrent state: [layers, batch, features]
    if len(shape) == 4 and _looks_like_image(shape):
        return CHANNELS if axis == 1 else _image_side(shape, axis, kinds)
    if len(shape) == 2 and dtype.startswith("float") and shape[0] in ("?", 1):
        return usual.signal
    return usual.sequence


def _looks_like_image(shape: Sequence[int | str]) -> bool:
    return isinstance(shape[1], str) or shape[1] in _IMAGE_CHANNELS


def _image_side(shape: Sequence[int | str], axis: int, kinds: Sizes | None) -> int:
    """One open side: as the kinds say, else as long as the other, else what is usual."""
    other = shape[5 - axis]
    if kinds is not None:
        return kinds.height if axis == 2 else kinds.width
    if not isinstance(other, int):
        return IMAGE
    return WIDE_IMAGE if axis == 3 and other < _LINE_HEIGHT else other
