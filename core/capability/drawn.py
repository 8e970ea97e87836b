"""Drawn operands: the seeded numbers that one-operator models are fed and store."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from core.capability.building import GraphBuilder
from core.capability.operators import Activation, Array, Fixed, Ids, Operand, Weight


def random_activation(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Seeded numbers in -1..1."""
    return np.random.default_rng(seed).uniform(-1.0, 1.0, shape).astype(np.float32)


def random_weight(weight: Weight, seed: int = 0) -> Array:
    """Seeded numbers as trained weights have them; those of a scale lie around 1."""
    drawn = np.random.default_rng(seed + 7).normal(0, 0.1, weight.shape).astype(np.float32)
    return np.abs(drawn) + np.float32(0.5) if weight.positive else drawn


def unrounded(graph: GraphBuilder, operand: Operand, dtype: np.dtype[Any], seed: int = 0) -> ir.Value | None:
    """An operand in floats: activations as inputs, weights stored; None for one that is left out."""
    match operand:
        case Activation(shape):
            return graph.give(random_activation(shape, seed).astype(dtype))
        case Weight():
            return graph.store(random_weight(operand, seed).astype(dtype))
        case Ids(shape, below):
            return graph.give(np.random.default_rng(seed).integers(0, below, shape))
        case Fixed(array, kind):
            if array is None:
                return None
            stored = np.array(array, dtype if kind == "number" else kind)
            return graph.store(stored[0] if kind == "number" else stored)
