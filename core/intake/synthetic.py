"""Synthetic data: seeded inputs where nobody gave any, so that a model can be timed and compared with itself.

They say nothing of accuracy, and every figure made with them is marked. Numbers are standard normal; indices stay
inside the table they select from; masks are ones, positions count up, a sample rate is 16,000, other
integers are 0 or 1.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from core.errors import DataError, did_you_mean
from core.intake.feeds import Array, Dataset, content_sha256, sample_digests
from core.intake.fit import batch_obstacle, shape_text
from core.intake.model import Model, TensorSpec
from core.intake.proposals import propose_shapes
from core.intake.splits import split_samples
from core.intake.tables import index_limit

SAMPLES = 32
#: Of sound, in Hz: what an input called "sr" or "sample_rate" is given.
SAMPLE_RATE = 16_000
#: Fewer samples are made where this much memory would be exceeded.
MOST_BYTES = 200_000_000
_FEWEST_SAMPLES = 4
_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight")


def synthetic_dataset(
    model: Model,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Dataset:
    """Makes samples for a model; the same seed makes the same samples.

    Args:
        model: the model they are for.
        shapes: sizes of inputs by name; open dimensions of others get the proposed size.
        samples: how many; fewer where they would take more than 200 MB.
        seed: of the random numbers and of the split.

    Raises:
        DataError: a size does not fit the model, a rank is unknown, or an input cannot be made up.
    """
    sizes = resolve_shapes(model, shapes or {})
    samples = _affordable(model, sizes, samples)
    inputs = {spec.name: _make(model, spec, (samples, *sizes[spec.name]), seed) for spec in model.inputs}
    digests = sample_digests(inputs, samples)
    splits = split_samples(digests, seed=seed)
    return Dataset(
        name="synthetic",
        sha256=content_sha256(digests, None, splits),
        synthetic=True,
        inputs=inputs,
        labels=None,
        splits=splits,
        batch_obstacle=batch_obstacle(model),
        remarks=tuple(assumed_sizes(model, sizes, shapes or {})),
    )


def resolve_shapes(model: Model, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """One concrete shape per input: as given, else as proposed.

    Raises:
        DataError: an unknown input, a shape that contradicts the model, or an input of unknown rank without a shape.
    """
    specs = {spec.name: spec for spec in model.inputs}
    for name, shape in shapes.items():
        if name not in specs:
            message = f"The model has no input '{name}'.{did_you_mean(name, specs)}"
            raise DataError(message, hint=f"Shapes are of inputs: {', '.join(specs) or 'it has none'}.")
        _check_given(specs[name], shape)
    sizes = propose_shapes(model, shapes)
    for name in specs:
        if name not in sizes:
            message = f"The number of dimensions of input '{name}' is not in the file, so no size can be proposed."
            raise DataError(message, hint=f"Give it: --shape {name}=1x3x224x224, or give data.")
    return sizes


def _check_given(spec: TensorSpec, shape: tuple[int, ...]) -> None:
    fits = spec.shape is None or (
        len(spec.shape) == len(shape)
        and all(isinstance(wanted, str) or wanted == size for wanted, size in zip(spec.shape, shape, strict=True))
    )
    if not fits or any(size < 0 for size in shape):
        wanted = shape_text(spec.shape or ())
        raise DataError(f"Input '{spec.name}' takes {wanted}, but the shape {shape_text(shape)} was given.")


def _affordable(model: Model, sizes: Mapping[str, tuple[int, ...]], samples: int) -> int:
    per_sample = sum(math.prod(sizes[spec.name]) * _dtype(spec).itemsize for spec in model.inputs)
    return min(samples, max(_FEWEST_SAMPLES, MOST_BYTES // max(per_sample, 1)))


def _dtype(spec: TensorSpec) -> np.dtype[Any]:
    try:
        return np.dtype(object if spec.dtype == "str" else spec.dtype)
    except TypeError as error:
        kind = spec.dtype or "of an unknown kind"
        message = f"Input '{spec.name}' is {kind}: such an input cannot be made up or fed from data."
        raise DataError(message, hint="Only tensors of numbers and text can be inputs here.") from error


def _make(model: Model, spec: TensorSpec, shape: tuple[int, ...], seed: int) -> Array:
    """All samples of one input; its random numbers depend on its name, not on the other inputs."""
    dtype = _dtype(spec)
    random = np.random.default_rng([seed & 0xFFFFFFFF, zlib.crc32(spec.name.encode())])
    name = spec.name.lower()
    if "mask" in name and dtype.kind in "biuf":
        return np.ones(shape, dtype)
    if dtype.kind == "O":
        return random.choice(np.array(_WORDS, dtype=object), size=shape)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        return _make_integers(model, spec, shape, random)
    return random.standard_normal(shape, dtype=np.float32).astype(dtype)


def _make_integers(model: Model, spec: TensorSpec, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    dtype, limit = _dtype(spec), index_limit(model.ir, spec.name)
    if not spec.shape and re.search(r"(^|_)sr$|rate", spec.name.lower()):
        return np.full(shape, SAMPLE_RATE, dtype)
    if "position" in spec.name.lower() and len(shape) > 1:
        counted = np.arange(shape[-1]) % (limit or max(shape[-1], 1))
        return np.broadcast_to(counted.astype(dtype), shape).copy()
    if limit is None and dtype.itemsize == 1:
        bounds = np.iinfo(dtype)
        return random.integers(bounds.min, bounds.max, shape, dtype=dtype, endpoint=True)
    return random.integers(0, max(limit or 2, 1), shape).astype(dtype)


def assumed_sizes(model: Model, sizes: Mapping[str, tuple[int, ...]], given: Mapping[str, object]) -> list[str]:
    """The sentence that says which sizes were proposed, where any were."""
    assumed = [
        f"'{spec.name}' {shape_text(sizes[spec.name])} for {shape_text(spec.shape or ())}"
        for spec in model.inputs
        if spec.name not in given and any(isinstance(size, str) for size in spec.shape or ())
    ]
    return [f"Sizes that the model leaves open were assumed: {'; '.join(assumed)}."] if assumed else []
