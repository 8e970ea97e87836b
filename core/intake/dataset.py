"""Data for a model: read from a file, or made up where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.errors import DataError
from core.intake.feeds import Dataset, Split
from core.intake.fit import shape_text
from core.intake.model import Model
from core.intake.npz import read_dataset
from core.intake.synthetic import resolve_shapes, synthetic_dataset

__all__ = ["Dataset", "Split", "dataset_for", "read_dataset", "synthetic_dataset"]


def dataset_for(
    model: Model,
    source: Path | bytes | None,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    seed: int = 0,
    name: str | None = None,
) -> Dataset:
    """The samples to work with: those of a file, else seeded synthetic ones.

    Args:
        model: the model they are for.
        source: an NPZ file's path or bytes; None for synthetic samples.
        shapes: sizes of inputs by name, for synthetic samples.
        seed: of the split and of synthetic numbers.
        name: what to call the samples of a file, here and in messages; the file's name if not given.

    Raises:
        DataError: the data does not fit the model, or the shapes do not fit the data.
    """
    if source is None:
        return synthetic_dataset(model, shapes=shapes, seed=seed)
    dataset = read_dataset(source, model, name=name, seed=seed)
    if shapes:
        _refuse_other_shapes(model, dataset, shapes)
    return dataset


def _refuse_other_shapes(model: Model, dataset: Dataset, shapes: Mapping[str, tuple[int, ...]]) -> None:
    resolve_shapes(model, shapes)
    have = dataset.shapes()
    for name, shape in shapes.items():
        if have[name] != tuple(shape):
            found = shape_text(have[name])
            message = f"The shape {shape_text(shape)} was asked for input '{name}', but its data has {found}."
            raise DataError(message, hint="Leave out the shape, or give data of that shape.")
