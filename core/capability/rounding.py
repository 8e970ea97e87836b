"""Rounding: codes of activations (u8, u16, e4m3) and of weights, and the nodes that turn them into floats and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir

from core.capability.building import MICROSOFT, GraphBuilder
from core.capability.operators import Array
from core.transform.affine import quantize_weight

_E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
_E4M3_LARGEST = 448.0


@dataclass(frozen=True, slots=True)
class Code:
    """value = scale * (code - zero); the domain is that of the operators that know this type."""

    dtype: np.dtype[Any]
    scale: float
    zero: int
    domain: str = ""

    @property
    def is_fp8(self) -> bool:
        """Whether codes are floats of 8 bits."""
        return bool(self.dtype == _E4M3)

    def encode(self, values: Array) -> Array:
        """The codes of these values."""
        if self.is_fp8:
            return (values / np.float32(self.scale)).astype(self.dtype)
        limits = np.iinfo(self.dtype)
        return np.clip(np.round(values / self.scale) + self.zero, limits.min, limits.max).astype(self.dtype)

    def decode(self, codes: Array) -> Array:
        """The values of these codes."""
        return (codes.astype(np.float32) - self.zero) * np.float32(self.scale)


def u8_code(low: float, high: float) -> Code:
    """8-bit integers that cover low..high."""
    return _integers(np.dtype(np.uint8), low, high)


def u16_code(low: float, high: float) -> Code:
    """16-bit integers that cover low..high, for the runtime's own QuantizeLinear."""
    return _integers(np.dtype(np.uint16), low, high, MICROSOFT)


def fp8_code(low: float, high: float) -> Code:
    """Floats with 4 bits of exponent and 3 of mantissa, scaled so that the largest is used."""
    return Code(_E4M3, max(abs(low), abs(high)) / _E4M3_LARGEST, 0)


def _integers(dtype: np.dtype[Any], low: float, high: float, domain: str = "") -> Code:
    scale = (high - low) / np.iinfo(dtype).max
    return Code(dtype, scale, round(-low / scale), domain)


class Rounding:
    """Adds the conversions to a graph; equal codes share their stored scale and zero point."""

    def __init__(self, graph: GraphBuilder, weight_limit: int) -> None:
        self._graph = graph
        self._limit = weight_limit
        self._known: dict[Code, tuple[ir.Value, ir.Value]] = {}

    def dequantize(self, value: ir.Value, code: Code) -> ir.Value:
        """Codes to floats."""
        return self._graph.node("DequantizeLinear", [value, *self._stored(code)], domain=code.domain)[0]

    def quantize(self, value: ir.Value, code: Code) -> ir.Value:
        """Floats to codes."""
        return self._graph.node("QuantizeLinear", [value, *self._stored(code)], domain=code.domain)[0]

    def weight(self, values: Array, axis: int | None, *, fp8: bool = False, bits: int = 8) -> ir.Value:
        """Stored codes of a weight behind a DequantizeLinear.

        Args:
            values: the weight.
            axis: of its output channels, each of which has a scale; None for one scale.
            fp8: as floats of 8 bits, with one scale.
            bits: 8 or 4.
        """
        if fp8:
            code = fp8_code(0.0, float(np.abs(values).max()))
            return self.dequantize(self._graph.store(code.encode(values)), code)
        found = quantize_weight(values, axis=axis, limit=self._limit if bits == 8 else 7)
        codes = found.codes if bits == 8 else found.codes.astype(ml_dtypes.int4)
        scale = self._graph.store(found.scale)
        zero = self._graph.store(np.zeros(found.scale.shape, codes.dtype))
        attributes = {} if axis is None else {"axis": axis}
        return self._graph.node("DequantizeLinear", [self._graph.store(codes), scale, zero], attributes)[0]

    def _stored(self, code: Code) -> tuple[ir.Value, ir.Value]:
        if code not in self._known:
            scale, zero = np.float32(code.scale), np.array(code.zero).astype(code.dtype)
            self._known[code] = (self._graph.store(scale), self._graph.store(zero))
        return self._known[code]
