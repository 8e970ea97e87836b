"""Rules on real profiles of tiny models: what fires is what the runtime really did."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from core.graph.read import read_layers
from core.intake.dataset import synthetic_dataset
from core.intake.load import load_model
from core.intake.model import Model
from core.measure.advised import Advice
from core.measure.profile import profile_model
from core.measure.profiled import Profile
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule
from core.runtime.settings import SessionSettings
from tests.runtime.models import parse
from tests.transform.models import Bench, model_from_text, random_weights

pytestmark = pytest.mark.xdist_group("timing")

SETTINGS = SessionSettings()


def _profile(model: Model, **options: Any) -> Profile:
    data = synthetic_dataset(model, samples=2, seed=1)
    given = {"settings": SETTINGS, "runs": 10, **options}
    return profile_model(model, read_layers(model, shapes=data.shapes()), data, **given)


def _advice(profile: Profile, rule: str) -> Advice | None:
    return next((advice for advice in profile.advice if advice.rule == rule), None)


def _loaded(model: ir.Model, **values: Any) -> Model:
    for name, array in values.items():
        value = next(v for node in model.graph for v in node.inputs if v is not None and v.name == name)
        value.const_value = ir.tensor(array, name=name)
        model.graph.register_initializer(value)
    return load_model(ir.to_proto(model).SerializeToString(), name="test")


def _quantized(kind: str, *, stored: bool) -> Model:
    """A convolution on `kind` ("uint8", "int8") activations: as QLinearConv where `stored`, else between Q and DQ."""
    q, dq = "xq = QuantizeLinear(x, sx, zx)", "y = DequantizeLinear(cq, sx, zx)"
    conv = "Conv<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>"
    product = f"cq = QLinear{conv}(xq, sx, zx, w, sw, zw, sx, zx)"
    if not stored:
        product = f"""xd = DequantizeLinear(xq, sx, zx)
            wd = DequantizeLinear(w, sw, zw)
            c = {conv}(xd, wd)
            cq = QuantizeLinear(c, sx, zx)"""
    weights = np.random.default_rng(0).integers(-100, 100, size=(32, 32, 3, 3)).astype(np.int8)
    zero = np.array(0 if kind == "int8" else 128, kind)
    scale = np.array(0.05, np.float32)
    model = parse(f"{q}\n{product}\n{dq}", "(float[1, 32, 24, 24] x) => (float[1, 32, 24, 24] y)")
    return _loaded(model, sx=scale, zx=zero, sw=scale, zw=np.array(0, np.int8), w=weights)


@pytest.mark.parametrize(
    ("kind", "stored", "fires"), [("int8", True, True), ("uint8", True, False), ("uint8", False, False)]
)
def test_signed_activations_are_told_where_kernels_read_them(kind: str, *, stored: bool, fires: bool) -> None:
    profile = _profile(_quantized(kind, stored=stored))
    assert any(kernel.op == "QLinearConv" for kernel in profile.seen.kernels)
    seen = replace(profile, seen=replace(profile.seen, x86=True))
    assert (_advice(seen, "signed activations") is not None) is fires


def test_a_convolution_quantized_dynamically() -> None:
    body = """
      xq, sx, zx = DynamicQuantizeLinear(x)
      c = ConvInteger<kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(xq, w, zx)
      f = Cast<to = 1>(c)
      s = Mul(sx, sw)
      y = Mul(f, s)
    """
    weights = np.random.default_rng(0).integers(0, 200, size=(16, 16, 3, 3)).astype(np.uint8)
    model = parse(body, "(float[1, 16, 24, 24] x) => (float[1, 16, 24, 24] y)")
    found = _advice(
        _profile(_loaded(model, sw=np.array(0.1, np.float32), w=weights)), "dynamic quantization of convolutions"
    )
    assert found is not None
    assert found.layers == ("c",)


CHAIN = """
chain (float[1, 16, 40, 40] x) => (float[1, 16, 40, 40] y)
{
    a = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x, w0)
    b = Conv <kernel_shape = [1, 1]> (a, w1)
    y = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b, w2)
}
"""


def test_an_int8_layer_between_fp32_layers_is_an_island_and_going_back_takes_it_away() -> None:
    weights = random_weights(w0=(16, 16, 3, 3), w1=(16, 16, 1, 1), w2=(16, 16, 3, 3))
    bench = Bench(model_from_text(CHAIN, weights))
    candidate = bench.build(Recipe((Rule("layer:conv1", Precision.INT8),)))
    model = load_model(candidate.model, name="candidate")
    profile = profile_model(model, bench.table, bench.data, settings=SETTINGS, runs=10)
    found = _advice(profile, "int8 islands")
    assert found is not None
    assert found.layers == ("conv1",)
    assert found.change is not None
    assert [rule.match for rule in found.change.rules] == ["group:conv1"]
    back = bench.build(Recipe((Rule("layer:conv1", Precision.INT8), *found.change.rules)))
    again = profile_model(load_model(back.model, name="b"), bench.table, bench.data, settings=SETTINGS, runs=10)
    assert _advice(again, "int8 islands") is None


def test_everything_in_one_precision_has_no_islands() -> None:
    weights = random_weights(w0=(16, 16, 3, 3), w1=(16, 16, 1, 1), w2=(16, 16, 3, 3))
    bench = Bench(model_from_text(CHAIN, weights))
    for precision in (Precision.INT8, Precision.FP32):
        candidate = bench.build(Recipe.uniform(precision))
        model = load_model(candidate.model, name="candidate")
        profile = profile_model(model, bench.table, bench.data, settings=SETTINGS, runs=10)
        assert not [advice.rule for advice in profile.advice if "islands" in advice.rule]


def test_more_threads_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.measure.looked_at.usable_cores", lambda: 1)
    model = model_from_text(CHAIN, random_weights(w0=(16, 16, 3, 3), w1=(16, 16, 1, 1), w2=(16, 16, 3, 3)))
    assert _advice(_profile(model, settings=SessionSettings(threads=2)), "more threads than processors") is not None
    assert _advice(_profile(model), "more threads than processors") is None
