"""Outputs: what a model answers on samples, one mapping per sample, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from core.intake.dataset import Dataset
from core.intake.model import Openable
from core.progress import Progress, Silent
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings

Array = np.ndarray[Any, np.dtype[Any]]
Outputs = dict[str, Array]


def run_outputs(
    model: Openable,
    dataset: Dataset,
    indices: Sequence[int],
    settings: SessionSettings,
    *,
    batch: int = 1,
    progress: Progress | None = None,
) -> list[Outputs]:
    """Runs a model on samples and returns the outputs of each, in order of `indices`.

    Raises:
        RunError: the runtime refuses the model or fails on a sample.
        DataError: samples that cannot run together, with `batch` above 1.
    """
    return list(iterate_outputs(model, dataset, indices, settings, batch=batch, progress=progress))


def iterate_outputs(
    model: Openable,
    dataset: Dataset,
    indices: Sequence[int],
    settings: SessionSettings,
    *,
    batch: int = 1,
    progress: Progress | None = None,
) -> Iterator[Outputs]:
    """As `run_outputs`, one sample at a time: memory does not grow with the number of samples.

    Samples run together where `batch` says so and every output can be told apart along axis 0, else one by one.
    """
    told = progress or Silent()
    session = open_session(model, settings)
    for start in range(0, len(indices), batch):
        told.step(start, len(indices), "outputs")
        chosen = indices[start : start + batch]
        together = _split(_run(session, dataset.batch(chosen)), len(chosen))
        yield from together if together is not None else (_run(session, dataset.feed(index)) for index in chosen)


def float_shapes(dataset: Dataset) -> frozenset[tuple[int, ...]]:
    """Shapes of one feed of the inputs that take floats: an output of such a shape hands something on."""
    return frozenset(shape for name, shape in dataset.shapes().items() if dataset.inputs[name].dtype.kind == "f")


def to_array(value: Any) -> Array:
    """A model's output as an array: maps of scores become one row each (keys in order), sequences are joined."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Mapping):
        return np.asarray([value[key] for key in sorted(value)])
    if isinstance(value, list | tuple):
        parts = [to_array(item) for item in value]
        if parts and all(part.shape == parts[0].shape for part in parts):
            return np.stack(parts)
        return np.concatenate([part.ravel() for part in parts]) if parts else np.zeros(0, np.float32)
    return np.asarray(value)


def _run(session: Session, feed: Mapping[str, Array]) -> Outputs:
    return {name: to_array(value) for name, value in run_session(session, feed).items() if value is not None}


def _split(outputs: Outputs, count: int) -> list[Outputs] | None:
    """One mapping per sample, or None where an output does not divide evenly along axis 0."""
    if count == 1:
        return [outputs]
    if any(array.ndim == 0 or array.shape[0] % count or not array.shape[0] for array in outputs.values()):
        return None
    pieces = {name: np.split(array, count) for name, array in outputs.items()}
    return [{name: parts[index] for name, parts in pieces.items()} for index in range(count)]
