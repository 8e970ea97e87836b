"""A small classifier and its data for tests of measuring."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from core.intake.feeds import Dataset
from core.intake.load import load_model
from core.intake.model import Model
from tests.runtime.models import conv_block, parse

CLASSES = 4
FEATURES = 8


def classifier(*, noise: float = 0.0) -> bytes:
    """Logits [batch, 4] of x [batch, 8]: the first four features, scaled; `noise` blurs the weights."""
    model = parse("y = MatMul(x, w)", f"(float[n, {FEATURES}] x) => (float[n, {CLASSES}] y)")
    weights = np.zeros((FEATURES, CLASSES), np.float32)
    weights[:CLASSES] = np.eye(CLASSES) * 3
    weights += noise * np.random.default_rng(5).normal(size=weights.shape).astype(np.float32)
    value = next(value for node in model.graph for value in node.inputs if value is not None and value.name == "w")
    value.const_value = ir.tensor(weights, name="w")
    model.graph.register_initializer(value)
    return ir.to_proto(model).SerializeToString()  # type: ignore[no-any-return]


def samples(count: int = 40, *, labels: bool = True, seed: int = 3) -> Dataset:
    """Samples whose label is the largest of the first four features."""
    x = np.random.default_rng(seed).normal(size=(count, 1, FEATURES)).astype(np.float32)
    answers = x[:, 0, :CLASSES].argmax(axis=1)
    splits = np.full(count, 2, np.int8)
    splits[: count // 2] = 1
    return Dataset("made up", "0" * 64, False, {"x": x}, answers if labels else None, splits)


def convolutions(count: int = 4) -> tuple[Model, Dataset]:
    """The residual block and data for it."""
    model = load_model(ir.to_proto(conv_block()).SerializeToString(), name="block")
    x = np.random.default_rng(0).normal(size=(count, 1, 16, 8, 8)).astype(np.float32)
    return model, Dataset("made up", "1" * 64, False, {"x": x}, None, np.full(count, 1, np.int8))
