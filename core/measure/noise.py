"""Noise: by how much outputs differ from the original's, on the same samples; the one home of the SQNR.

    noise power of a float output   sum((reference - got)^2) / sum(reference^2), over all samples
    SQNR                            -10 log10(noise power) dB, between -200 and 200 (identical)
    noise of several outputs        max over outputs of weight x noise power; weights are 1 where nobody says otherwise

Noise powers of groups lowered one at a time add up where the groups' errors are uncorrelated, which is what makes a
prediction for a whole set possible; the search never trusts that sum without measuring.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.errors import RunError
from core.measure.outputs import Outputs

CAP_DB = 200.0
_IDENTICAL = 10 ** (-CAP_DB / 10)

Weights = Mapping[str, float]


def noise_of(reference: Sequence[Outputs], got: Sequence[Outputs], *, weights: Weights | None = None) -> float:
    """Weighted noise power of the worst float output; infinite where the candidate gives NaN or infinity.

    Args:
        reference: the original's outputs, one mapping per sample.
        got: the candidate's.
        weights: the outputs that count, each with its weight; None for all with weight 1.

    Raises:
        RunError: the two do not have the same outputs, or a different shape.
    """
    worst = 0.0
    for name in _float_outputs(reference, weights):
        signal = noise = 0.0
        for expected, actual in zip(reference, got, strict=True):
            one, other = np.asarray(expected[name], np.float64), np.asarray(actual[name], np.float64)
            if one.shape != other.shape:
                raise RunError(f"The output '{name}' changed its shape from {one.shape} to {other.shape}.")
            finite = np.isfinite(one)
            added = powers(one[finite], other[finite])
            signal, noise = signal + added[0], noise + added[1]
        worst = max(worst, _ratio(noise, signal) * (1.0 if weights is None else weights[name]))
    return worst


def powers(reference: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Sums of squares of the signal and of the error, of float64 arrays of the same size."""
    with np.errstate(over="ignore", invalid="ignore"):
        error = reference - got
        return float(np.square(reference).sum()), float(np.square(error).sum())


def decibels(signal: Any, noise: Any) -> Any:
    """10 log10(signal / noise) of arrays or numbers, between -200 and 200; 200 where there is no noise."""
    signal, noise = np.asarray(signal, np.float64), np.asarray(noise, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 10 * (np.log10(signal) - np.log10(noise))
    return np.where(noise == 0, CAP_DB, np.clip(value, -CAP_DB, CAP_DB))


def sqnr_db(noise: float) -> float:
    """Noise power as a signal-to-noise ratio in dB, capped at 200 (identical); minus infinity where it is infinite."""
    if math.isinf(noise):
        return -math.inf
    return max(-CAP_DB, -10 * math.log10(max(noise, _IDENTICAL)))


def weighted_db(sqnr: float, weight: float) -> float:
    """The SQNR of an output whose noise counts `weight` times; identical stays identical."""
    return sqnr if sqnr >= CAP_DB else sqnr - 10 * math.log10(weight)


def _ratio(noise: float, signal: float) -> float:
    if not math.isfinite(noise):
        return math.inf
    if noise == 0.0:
        return 0.0
    return noise / signal if signal > 0 else math.inf


def _float_outputs(reference: Sequence[Outputs], weights: Weights | None) -> list[str]:
    if not reference:
        return []
    chosen = reference[0] if weights is None else weights
    return [name for name in chosen if np.issubdtype(reference[0][name].dtype, np.floating)]
