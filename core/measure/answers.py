"""Answers: the class a model chooses on a sample, where an output says one.

An output says classes where it is a row of scores: `[classes]` or `[1, classes]` (axes of size 1 aside), rows of
probabilities at every position (`[1, positions, classes]`, each non-negative with sum 1), or one probability of yes
(`[1, 1]`, between 0 and 1). An output of integers, booleans or texts is an answer as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_SUM_TOLERANCE = 1e-3
_SMALLEST = 1e-12


@dataclass(frozen=True, slots=True)
class Answers:
    """What one output of one sample says: `chosen` per position, and the `probabilities` behind it.

    `chosen` has shape [positions]; `probabilities` has shape [positions, classes] and is None for outputs that are
    answers as they are.
    """

    chosen: Array
    probabilities: Array | None


def read_answers(output: Array) -> Answers | None:
    """The answers of one output on one sample.

    None where it is no row of scores (a feature map, several positions of an embedding) or is not finite.
    """
    if output.dtype.kind not in "f":
        return Answers(output.reshape(-1), None)
    if not output.size or not np.isfinite(output).all():
        return None
    rows = _rows(output.astype(np.float64))
    if rows is None:
        return None
    if rows.shape[-1] == 1:
        return _yes_or_no(rows)
    probabilities = rows if _is_distribution(rows) else _softmax(rows)
    return Answers(rows.argmax(axis=-1), probabilities)


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


def _rows(output: Array) -> Array | None:
    """Scores as [positions, classes]; None where the output is neither one row nor rows of probabilities."""
    squeezed = output.reshape([size for size in output.shape if size != 1] or [1])
    if squeezed.ndim == 1:
        return squeezed[None, :]
    rows = output.reshape(-1, output.shape[-1])
    return rows if rows.shape[-1] > 1 and _is_distribution(rows) else None


def _is_distribution(rows: Array) -> bool:
    return bool((rows >= 0).all() and np.all(np.abs(rows.sum(axis=-1) - 1) <= _SUM_TOLERANCE))


def _yes_or_no(rows: Array) -> Answers | None:
    if rows.min() < 0 or rows.max() > 1:
        return None
    return Answers((rows[:, 0] >= 0.5).astype(np.int64), np.concatenate([1 - rows, rows], axis=-1))


def _softmax(rows: Array) -> Array:
    shifted = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True))
