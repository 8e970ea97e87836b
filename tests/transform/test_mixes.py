"""Random networks and random mixes: whatever is asked, the model builds, runs, and every layer is told."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import onnx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.measure.noise import noise_of, sqnr_db
from core.measure.outputs import run_outputs
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule
from tests.transform.models import SETTINGS, Bench, model_from_text

_CHANNELS = 8
_BLOCKS = (
    "conv",
    "conv relu",
    "conv bn relu",
    "conv clip",
    "depthwise",
    "residual",
    "maxpool",
    "avgpool",
    "sigmoid",
    "concat",
)


@dataclass
class _Writer:
    """Writes blocks one after the other as onnx text."""

    lines: list[str]
    weights: dict[str, np.ndarray]
    value: str = "x"
    count: int = 0

    def new(self, expression: str) -> str:
        self.count += 1
        self.lines.append(f"v{self.count} = {expression}")
        self.value = f"v{self.count}"
        return self.value

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        generator = np.random.default_rng(len(self.weights))
        fan_in = max(1, math.prod(shape[1:]))
        self.weights[name] = (generator.normal(size=shape) / math.sqrt(fan_in)).astype(np.float32)
        return name

    def conv(self, source: str, channels: int = _CHANNELS) -> str:
        return self.new(f"Conv<pads = [1, 1, 1, 1]>({source}, {self.weight(_CHANNELS, channels, 3, 3)})")

    def block(self, kind: str) -> None:
        source = self.value
        match kind:
            case "conv":
                self.conv(source)
            case "conv relu":
                self.new(f"Relu({self.conv(source)})")
            case "conv bn relu":
                made = self.conv(source)
                parts = [self.weight(_CHANNELS) for _ in range(3)]
                self.weights["var"] = np.linspace(0.5, 1.5, _CHANNELS, dtype=np.float32)
                normed = self.new(f"BatchNormalization({', '.join([made, *parts, 'var'])})")
                self.new(f"Relu({normed})")
            case "conv clip":
                self.weights |= {"low": np.array(0, np.float32), "six": np.array(6, np.float32)}
                self.new(f"Clip({self.conv(source)}, low, six)")
            case "depthwise":
                self.new(f"Conv<group = 8, pads = [1, 1, 1, 1]>({source}, {self.weight(_CHANNELS, 1, 3, 3)})")
            case "residual":
                self.new(f"Relu({self.new(f'Add({self.conv(source)}, {source})')})")
            case "maxpool":
                self.new(f"MaxPool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>({source})")
            case "avgpool":
                self.new(f"AveragePool<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>({source})")
            case "sigmoid":
                self.new(f"Sigmoid({source})")
            case _:
                self.conv(self.new(f"Concat<axis = 1>({source}, {source})"), 2 * _CHANNELS)


def _network(blocks: list[str]) -> Bench:
    writer = _Writer([], {})
    for kind in blocks:
        writer.block(kind)
    writer.new(f"Flatten({writer.new(f'GlobalAveragePool({writer.value})')})")
    head = f"y = Gemm({writer.value}, {writer.weight(_CHANNELS, 5)})"
    text = f"g (float[1, {_CHANNELS}, 8, 8] x) => (float[1, 5] y) {{ {' '.join([*writer.lines, head])} }}"
    return Bench(model_from_text(text, writer.weights), samples=48)


@settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(blocks=st.lists(st.sampled_from(_BLOCKS), min_size=1, max_size=5), data=st.data())
def test_any_mix_of_any_network_builds_runs_and_is_told(blocks: list[str], data: st.DataObject) -> None:
    bench = _network(blocks)
    groups = [group.id for group in bench.table.groups]
    lowered = data.draw(st.sets(st.sampled_from(groups)))
    candidate = bench.build(Recipe(tuple(Rule(f"group:{group}", Precision.INT8) for group in sorted(lowered))))
    onnx.checker.check_model(onnx.load_from_string(candidate.model_bytes), full_check=True)
    indices = range(len(bench.data))
    reference = run_outputs(bench.model.to_bytes(), bench.data, indices, SETTINGS)
    noise = noise_of(reference, run_outputs(candidate.model_bytes, bench.data, indices, SETTINGS))
    lowered_layers = [outcome for outcome in candidate.outcomes if outcome.produced == "int8"]
    assert sqnr_db(noise) > 10
    if not lowered_layers:
        assert noise == 0
        assert candidate.conversions == 0
    assert all(outcome.why for outcome in candidate.outcomes)
    convolutions = [outcome for outcome in lowered_layers if outcome.op in ("Conv", "Gemm")]
    assert {outcome.executed for outcome in convolutions} <= {"int8"}
