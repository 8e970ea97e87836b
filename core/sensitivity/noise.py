"""Noise: what a candidate's outputs differ by, relative to the original's, on the same samples.

    noise = max over float outputs of  sum((reference - got)^2) / sum(reference^2),   SQNR = -10 log10(noise) dB

Noise powers of groups lowered one at a time add up where the groups' errors are uncorrelated, which is what makes a
prediction for a whole set possible; the search never trusts that sum without measuring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from core.errors import RunError
from core.measure.outputs import Outputs

CAP_DB = 200.0
_IDENTICAL = 10 ** (-CAP_DB / 10)


def noise_of(reference: Sequence[Outputs], got: Sequence[Outputs]) -> float:
    """Relative noise power of the worst float output; infinite where the candidate gives NaN or infinity.

    Raises:
        RunError: the two do not have the same outputs, or a different shape.
    """
    worst = 0.0
    for name in _float_outputs(reference):
        signal = noise = 0.0
        for expected, actual in zip(reference, got, strict=True):
            one, other = np.asarray(expected[name], np.float64), np.asarray(actual[name], np.float64)
            if one.shape != other.shape:
                raise RunError(f"The output '{name}' changed its shape from {one.shape} to {other.shape}.")
            finite = np.isfinite(one)
            signal += float(np.square(one[finite]).sum())
            noise += float(np.square(one[finite] - other[finite]).sum())
        worst = max(worst, _ratio(noise, signal))
    return worst


def _ratio(noise: float, signal: float) -> float:
    if not math.isfinite(noise):
        return math.inf
    if noise == 0.0:
        return 0.0
    return noise / signal if signal > 0 else math.inf


def _float_outputs(reference: Sequence[Outputs]) -> list[str]:
    if not reference:
        return []
    return [name for name, value in reference[0].items() if np.issubdtype(value.dtype, np.floating)]


def sqnr_db(noise: float) -> float:
    """Noise power as a signal-to-noise ratio in dB, capped at 200 (identical); minus infinity where it is infinite."""
    if math.isinf(noise):
        return -math.inf
    return -10 * math.log10(max(noise, _IDENTICAL))
