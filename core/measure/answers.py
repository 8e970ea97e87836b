"""Answers: the class a model chooses on a sample, where an output says one.

An output of integers, booleans or texts is an answer as it is. An output of floats says classes where it is

1. probabilities at every position: `[..., classes]`, each non-negative with sum 1, or one probability of yes; or
2. one row of scores: `[classes]`, `[1, classes]`, `[1, 1, classes]` or `[1, classes, 1, 1]`,

and a row of scores says none where it is plainly something else: it has the shape of one of the model's inputs (a
state handed on, a picture made again), its squares sum to 1 (an embedding), or its length differs from sample to sample
(a signal; told by `core.measure.fidelity`, which sees all samples). The original decides; the candidate is read alike.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shapes = Collection[tuple[int, ...]]

_SUM_TOLERANCE = 1e-3
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Answers:
    """What one output of one sample says: `chosen` per position, and the `probabilities` behind it.

    `chosen` has shape [positions]; `probabilities` has shape [positions, classes] and is None for outputs that are
    answers as they are. `scores`: the output was no distribution, probabilities are its softmax.
    """

    chosen: Array
    probabilities: Array | None
    scores: bool = False

    @property
    def classes(self) -> int | None:
        """How many classes there are to choose from; None for answers as they are."""
        return None if self.probabilities is None else int(self.probabilities.shape[-1])


def read_answers(output: Array, *, input_shapes: Shapes = ()) -> Answers | None:
    """The answers of one output of the original on one sample; None where it says none, or is not finite.

    Args:
        output: what came out.
        input_shapes: shapes of what went in.
    """
    if output.dtype.kind not in "f":
        return Answers(output.reshape(-1), None)
    if not output.size or not np.isfinite(output).all():
        return None
    rows = output.astype(np.float64).reshape(-1, output.shape[-1] if output.ndim else 1)
    if rows.shape[-1] > 1 and _is_distribution(rows):
        return Answers(rows.argmax(axis=-1), rows)
    row = _row_of_scores(output)
    if row is None:
        return None
    if row.size == 1:
        return _yes_or_no(row)
    if _is_distribution(row):
        return Answers(row.argmax(axis=-1), row)
    if output.shape in set(input_shapes) or _is_unit_vector(row):
        return None
    return Answers(row.argmax(axis=-1), _softmax(row), scores=True)


def read_alike(output: Array, before: Answers) -> Answers | None:
    """The candidate's answers, read as the original's output was; None where it is not finite or of another size."""
    if output.dtype.kind not in "f" or before.probabilities is None:
        return Answers(output.reshape(-1), None)
    if not np.isfinite(output).all():
        return None
    classes = before.probabilities.shape[-1]
    if before.probabilities.shape == (1, 2) and output.size == 1:
        return _yes_or_no(output.astype(np.float64).reshape(1, 1), clip=True)
    if output.size != before.probabilities.size:
        return None
    rows = output.astype(np.float64).reshape(-1, classes)
    return Answers(rows.argmax(axis=-1), _softmax(rows) if before.scores else rows, scores=before.scores)


def divergence(reference: Answers, got: Answers) -> float | None:
    """Mean over positions of KL(reference || got) in nats; None where there are no comparable probabilities."""
    first, second = reference.probabilities, got.probabilities
    if first is None or second is None or first.shape != second.shape:
        return None
    p, q = np.clip(first, _SMALLEST, None), np.clip(second, _SMALLEST, None)
    return float(max(0.0, np.mean(np.sum(p * (np.log(p) - np.log(q)), axis=-1))))


def same_answer(reference: Answers, got: Answers) -> bool:
    """Whether every position has the same top answer."""
    return reference.chosen.shape == got.chosen.shape and bool(np.all(reference.chosen == got.chosen))


def _row_of_scores(output: Array) -> Array | None:
    """`[1, classes]`; None where the output has no such form."""
    shape = output.shape
    pooled = len(shape) in (3, 4) and shape[-1] == shape[-2] == 1
    flat = len(shape) <= 3
    others = shape[:-3] if pooled else shape[:-1]
    if not (pooled or flat) or any(size != 1 for size in others):
        return None
    return output.astype(np.float64).reshape(1, -1)


def _is_distribution(rows: Array) -> bool:
    return bool((rows >= 0).all() and np.all(np.abs(rows.sum(axis=-1) - 1) <= _SUM_TOLERANCE))


def _is_unit_vector(row: Array) -> bool:
    return row.size > 2 and abs(float(np.square(row).sum()) - 1) <= _SUM_TOLERANCE


def _yes_or_no(rows: Array, *, clip: bool = False) -> Answers | None:
    if clip:
        rows = rows.clip(0, 1)
    if rows.min() < 0 or rows.max() > 1:
        return None
    return Answers((rows[:, 0] >= 0.5).astype(np.int64), np.concatenate([1 - rows, rows], axis=-1))


def _softmax(rows: Array) -> Array:
    shifted = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
