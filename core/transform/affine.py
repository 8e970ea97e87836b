"""Affine quantization: real = scale * (code - zero_point), u8 for activations, s8 for weights.

Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference"
(2018), sections 2.1 and 2.4; the ranges always contain zero, so that padding is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
U8_STEPS = 255
WEIGHT_LIMIT = 127
#: 7-bit weights: 255 * 64 * 2 still fits the 16-bit sums of vpmaddubsw, the u8 x s8 multiply of CPUs without VNNI.
REDUCED_WEIGHT_LIMIT = 64
_SMALLEST_SCALE = np.float32(1e-30)
_INT32_LIMIT = 2**31 - 2


@dataclass(frozen=True, slots=True)
class Range:
    """Smallest and largest value seen of a tensor."""

    low: float
    high: float

    def is_usable(self) -> bool:
        """Whether both ends are finite."""
        return bool(np.isfinite(self.low) and np.isfinite(self.high))

    def union(self, other: Range) -> Range:
        """The range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))


@dataclass(frozen=True, slots=True)
class ActivationCode:
    """Scale and u8 zero point of an activation."""

    scale: np.float32
    zero_point: int


def activation_code(seen: Range) -> ActivationCode:
    """The u8 code that covers a range and hits zero exactly."""
    low, high = min(seen.low, 0.0), max(seen.high, 0.0)
    scale = np.float32((high - low) / U8_STEPS)
    if not scale > _SMALLEST_SCALE:
        return ActivationCode(np.float32(1.0), 0)
    return ActivationCode(scale, round(float(np.clip(-low / float(scale), 0, U8_STEPS))))


@dataclass(frozen=True, slots=True)
class WeightCode:
    """s8 codes of a weight; one scale per channel of `axis` (shape [channels]), or one in all (shape [], axis None)."""

    codes: Array
    scale: Array
    axis: int | None


def quantize_weight(weight: Array, *, axis: int | None, limit: int, floor: Array | None = None) -> WeightCode:
    """Rounds a float32 weight to s8 codes in -limit..limit, symmetric.

    Args:
        weight: the float32 tensor.
        axis: the axis of output channels, each with its own scale; None for one scale in all.
        limit: largest code, 127 or 64.
        floor: smallest scale allowed per channel (same shape as the scale), so that an int32 bias cannot overflow.
    """
    others = tuple(i for i in range(weight.ndim) if i != axis)
    peak = np.abs(weight).max(axis=others, initial=0.0) if axis is not None else np.abs(weight).max(initial=0.0)
    scale = np.asarray(peak, dtype=np.float64) / limit
    if floor is not None:
        scale = np.maximum(scale, floor if axis is not None else floor.max(initial=0.0))
    scale = np.where(scale > _SMALLEST_SCALE, scale, 1.0).astype(np.float32)
    spread = scale if axis is None else scale.reshape([-1 if i == axis else 1 for i in range(weight.ndim)])
    codes = np.clip(np.rint(weight / spread), -limit, limit).astype(np.int8)
    return WeightCode(codes, scale, axis)


def bias_floor(bias: Array, input_scale: np.float32) -> Array:
    """Smallest weight scale per channel with which `bias / (input_scale * weight_scale)` fits an int32."""
    return np.abs(bias.astype(np.float64)) / (float(input_scale) * _INT32_LIMIT)


def quantize_bias(bias: Array, input_scale: np.float32, weight_scale: Array) -> tuple[Array, Array]:
    """int32 codes of a bias and their scale, the product of input and weight scale that integer kernels add in."""
    scale = (np.float32(input_scale) * weight_scale).astype(np.float32)
    codes = np.clip(np.rint(bias.astype(np.float64) / scale), -_INT32_LIMIT, _INT32_LIMIT)
    return codes.astype(np.int32), scale
