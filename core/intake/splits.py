"""Splits: which samples calibrate, which evaluate, which are held out.

A quarter calibrates, half evaluates, a quarter is held out. The order is a seeded hash of what each sample contains, so
it depends neither on the order in the file nor on chance, and equal samples always fall into the same split.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from core.intake.feeds import Split

CALIBRATION_SHARE = 0.25
EVALUATION_SHARE = 0.5


def split_samples(digests: Sequence[bytes], *, seed: int = 0) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Divides samples, given one content digest each.

    Returns:
        A `Split` per sample. With one distinct sample all is holdout, with two nothing evaluates.
    """
    keys = [hashlib.sha256(f"{seed}|".encode() + digest).digest() for digest in digests]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    groups = [list(group) for _, group in groupby(order, key=keys.__getitem__)]
    splits = np.empty(len(digests), dtype=np.int8)
    for group, split in zip(groups, _assign([len(group) for group in groups]), strict=True):
        splits[group] = split
    return splits


def _assign(sizes: Sequence[int]) -> list[Split]:
    """A split for each group of equal samples, by where the group's middle lies; none stays empty from three on."""
    ends = np.cumsum(sizes)
    middles = (ends - np.asarray(sizes) / 2) / ends[-1]
    splits = [_at(float(middle)) for middle in middles]
    splits[0] = Split.CALIBRATION
    splits[-1] = Split.HOLDOUT
    if len(splits) > 2 and Split.EVALUATION not in splits:
        splits[len(splits) // 2] = Split.EVALUATION
    return splits


def _at(share: float) -> Split:
    if share <= CALIBRATION_SHARE:
        return Split.CALIBRATION
    return Split.EVALUATION if share <= CALIBRATION_SHARE + EVALUATION_SHARE else Split.HOLDOUT
