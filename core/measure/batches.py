"""Batches: the samples of a data set as feeds of so many samples each, within bounds of number and size."""

from __future__ import annotations

from collections.abc import Sequence

from core.intake.dataset import Dataset
from core.measure.child import Feeds

MOST_FEED_BYTES = 256 * 2**20


def batched_feeds(dataset: Dataset, indices: Sequence[int], batch: int, *, most: int | None = None) -> Feeds:
    """Feeds of `batch` samples each; samples are repeated where there are fewer than one batch needs.

    Args:
        dataset: where the samples come from.
        indices: the samples; at least one.
        batch: samples per feed.
        most: at most so many feeds, evenly spread; None: as many as fit in 256 MB.

    Raises:
        DataError: samples that cannot run together, with `batch` above 1.
    """
    chunks = [indices[start : start + batch] for start in range(0, len(indices), batch)]
    full = [chunk for chunk in chunks if len(chunk) == batch]
    if not full:
        full = [[indices[position % len(indices)] for position in range(batch)]]
    first = dataset.batch(full[0])
    size = max(1, sum(array.nbytes for array in first.values()))
    step = max(1, -(-len(full) * size // MOST_FEED_BYTES), 1 if most is None else -(-len(full) // most))
    return [first if position == 0 else dataset.batch(full[position]) for position in range(0, len(full), step)]
