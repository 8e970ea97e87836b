"""Small models and data for the tests of placement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import numpy_helper

from core.graph.layer import LayerTable
from core.graph.read import read_layers
from core.intake.dataset import Dataset, synthetic_dataset
from core.intake.load import load_model
from core.intake.model import Model
from core.progress import Silent
from core.recipe.recipe import Recipe
from core.recipe.resolve import resolve
from core.runtime.settings import SessionSettings
from core.transform.build import build_candidate
from core.transform.calibrate import Ranges, calibrate
from core.transform.candidate import Candidate

SETTINGS = SessionSettings()


def random_weights(seed: int = 0, **shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    """Normal float32 weights, scaled by the fan-in."""
    generator = np.random.default_rng(seed)
    return {
        name: (generator.normal(size=shape) / max(1.0, np.sqrt(np.prod(shape[1:])))).astype(np.float32)
        for name, shape in shapes.items()
    }


def model_from_text(text: str, weights: Mapping[str, np.ndarray], *, opset: int = 17) -> Model:
    """A model from onnx text (graph only) and named initializers; nodes are named by operator and number."""
    proto = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]>\n{text}')
    for number, node in enumerate(proto.graph.node):
        node.name = f"{node.op_type.lower()}{number}"
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return load_model(proto.SerializeToString(), name="test")


class Bench:
    """A model with its layers, synthetic data and ranges, ready to be built."""

    def __init__(self, model: Model, *, samples: int = 16) -> None:
        self.model = model
        self.data: Dataset = synthetic_dataset(model, samples=samples, seed=3)
        self.table: LayerTable = read_layers(model, shapes=self.data.shapes())
        self.ranges: Ranges = calibrate(model, self.table, self.data, settings=SETTINGS, progress=Silent())

    def build(self, recipe: Recipe, *, saturates: bool = True) -> Candidate:
        """The candidate of a recipe."""
        plan = resolve(recipe, self.table)
        return build_candidate(self.model, self.table, plan, self.ranges, settings=SETTINGS, saturates=saturates)


def executed(candidate: Candidate) -> dict[str, str]:
    """Layer id -> executed precision."""
    return dict(candidate.executed())


def feeds(bench: Bench, count: int = 4) -> list[dict[str, Any]]:
    """The first samples."""
    return [bench.data.feed(index) for index in range(count)]
