"""Intervals: how far a figure may be off, by exact binomial bounds and by the bootstrap.

`ci95` is two-sided (2.5 % on either side); a bound is one-sided (5 % beyond it).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

Array = np.ndarray[Any, np.dtype[Any]]
Interval = tuple[float, float]

RESAMPLES = 2000
_BLOCKS = 40


def upper_share(count: int, total: int, *, level: float = 0.95) -> float:
    """Exact (Clopper-Pearson) upper bound of a share of which `count` of `total` were seen; 1 without samples."""
    if total <= 0 or count >= total:
        return 1.0
    return float(stats.beta.ppf(level, count + 1, total - count))


def paired_change(better: int, worse: int, total: int) -> Interval:
    """ci95 of the change of a share, from the samples that turned right and wrong (Agresti and Min 2005).

    Half a sample is added to each kind, so that no flip at all does not claim certainty.
    """
    n = total + 2
    gained, lost = better + 0.5, worse + 0.5
    change = (gained - lost) / n
    error = float(np.sqrt(max(gained + lost - (gained - lost) ** 2 / n, 0.0))) / n
    reach = 1.959964 * error
    return (max(-1.0, change - reach), min(1.0, change + reach))


def bootstrap(statistic: Callable[[Array], Array], count: int, *, seed: int, resamples: int = RESAMPLES) -> Array:
    """Values of a statistic over resamples.

    Args:
        statistic: maps indices of shape [resamples, count] to values of shape [resamples].
        count: how many items are drawn, with replacement, out of as many.
        seed: of the draws.
        resamples: how many values.
    """
    chance = np.random.default_rng(seed)
    return statistic(chance.integers(0, count, size=(resamples, count)))


def in_blocks(count: int) -> list[Array]:
    """Positions in time order as at most 40 blocks: neighbours share the machine's mood and are drawn together."""
    return [block for block in np.array_split(np.arange(count), min(_BLOCKS, count)) if len(block)]


def mean_ci95(values: Array, *, seed: int) -> Interval:
    """ci95 of the mean of values in time order, by bootstrap over blocks."""
    blocks = in_blocks(len(values))
    sums = np.array([values[block].sum() for block in blocks])
    sizes = np.array([len(block) for block in blocks])
    drawn = bootstrap(lambda rows: sums[rows].sum(axis=1) / sizes[rows].sum(axis=1), len(blocks), seed=seed)
    return percentiles(drawn)


def ratio_draws(numerator: Array, denominator: Array, *, seed: int) -> Array:
    """Bootstrap values of mean(numerator) / mean(denominator) of pairs in time order, drawn in blocks."""
    blocks = in_blocks(len(numerator))
    above = np.array([numerator[block].sum() for block in blocks])
    below = np.array([denominator[block].sum() for block in blocks])
    return bootstrap(lambda rows: above[rows].sum(axis=1) / below[rows].sum(axis=1), len(blocks), seed=seed)


def percentiles(draws: Array) -> Interval:
    """The ci95 of bootstrap values."""
    low, high = np.percentile(draws, [2.5, 97.5])
    return (float(low), float(high))
