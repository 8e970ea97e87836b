from __future__ import annotations

import numpy as np
import onnx
import pytest

from core.errors import UnavailableError
from core.measure.noise import noise_of, sqnr_db
from core.measure.outputs import run_outputs
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe, Rule
from tests.transform.models import SETTINGS, Bench, executed, model_from_text, random_weights

INT8, FP32 = Precision.INT8, Precision.FP32
ALL_INT8 = Recipe.uniform(INT8)

RESIDUAL = """g (float[1, 8, 12, 12] x) => (float[1, 10] y) {
  a = Conv<pads = [1, 1, 1, 1]>(x, w1, b1)  b = Relu(a)
  c = Conv<pads = [1, 1, 1, 1]>(b, w2)  d = Add(c, b)  e = Relu(d)
  p = GlobalAveragePool(e)  f = Flatten(p)  y = Gemm<transB = 1>(f, w3, b3)
}"""


def _residual() -> Bench:
    weights = random_weights(w1=(16, 8, 3, 3), b1=(16,), w2=(16, 16, 3, 3), w3=(10, 16), b3=(10,))
    return Bench(model_from_text(RESIDUAL, weights))


def _sqnr(bench: Bench, data: bytes) -> float:
    indices = range(len(bench.data))
    reference = run_outputs(bench.model.to_bytes(), bench.data, indices, SETTINGS)
    return sqnr_db(noise_of(reference, run_outputs(data, bench.data, indices, SETTINGS)))


def test_a_residual_network_runs_in_integers_from_end_to_end() -> None:
    bench = _residual()
    candidate = bench.build(ALL_INT8)
    assert set(executed(candidate).values()) == {"int8"}
    assert candidate.conversions == 1, "only the input is quantized; the last product gives floats by itself"
    assert _sqnr(bench, candidate.model_bytes) > 30
    onnx.checker.check_model(onnx.load_from_string(candidate.model_bytes), full_check=True)


def test_the_fp32_recipe_is_bit_identical_and_has_no_conversion() -> None:
    bench = _residual()
    candidate = bench.build(Recipe.uniform(FP32))
    assert candidate.conversions == 0
    assert _sqnr(bench, candidate.model_bytes) == 200
    assert {outcome.produced for outcome in candidate.outcomes} == {"fp32"}


@pytest.mark.parametrize("lowered", [("conv0",), ("conv2",), ("gemm7",), ("conv0", "gemm7"), ("conv0", "conv2")])
def test_any_subset_of_groups_can_be_lowered(lowered: tuple[str, ...]) -> None:
    bench = _residual()
    candidate = bench.build(Recipe(tuple(Rule(f"layer:{name}", INT8) for name in lowered)))
    anchors = {name: executed(candidate)[name] for name in ("conv0", "conv2", "gemm7")}
    assert anchors == {name: "int8" if name in lowered else "fp32" for name in anchors}
    assert _sqnr(bench, candidate.model_bytes) > 30


def test_without_a_calibration_sample_every_layer_stays_and_says_why() -> None:
    bench = Bench(_residual().model, samples=1)
    assert bench.ranges.samples == 0
    candidate = bench.build(ALL_INT8)
    assert {outcome.produced for outcome in candidate.outcomes} == {"fp32"}
    whys = {outcome.layer: outcome.why for outcome in candidate.outcomes}
    assert "no calibration sample" in whys["conv0"]
    assert all(whys.values())


def test_output_names_and_shapes_survive() -> None:
    text = "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { y = Conv(x, w) }"
    bench = Bench(model_from_text(text, random_weights(w=(4, 4, 1, 1))))
    candidate = bench.build(ALL_INT8)
    built = onnx.load_from_string(candidate.model_bytes)
    assert [output.name for output in built.graph.output] == ["y"]
    assert executed(candidate) == {"conv0": "int8"}


def test_a_batch_norm_is_folded_into_its_convolution() -> None:
    text = """g (float[1, 4, 8, 8] x) => (float[1, 6, 8, 8] y) {
      a = Conv(x, w)  b = BatchNormalization(a, gamma, beta, mean, var)  y = Relu(b)
    }"""
    weights = random_weights(w=(6, 4, 1, 1), gamma=(6,), beta=(6,), mean=(6,))
    weights["var"] = np.linspace(0.1, 2.0, 6, dtype=np.float32)
    bench = Bench(model_from_text(text, weights))
    candidate = bench.build(ALL_INT8)
    built = onnx.load_from_string(candidate.model_bytes)
    assert "BatchNormalization" not in {node.op_type for node in built.graph.node}
    assert [output.name for output in built.graph.output] == ["y"]
    assert _sqnr(bench, candidate.model_bytes) > 30


@pytest.mark.parametrize("form", ["Mul(a, s)", "Add(a, s)", "Sub(a, s)"])
def test_a_scaling_per_channel_is_folded_where_the_file_gives_no_shapes(form: str) -> None:
    text = f"g (float[1, 4, 8, 8] x) => (float[1, 6, 8, 8] y) {{ a = Conv(x, w, c)  b = {form}  y = Relu(b) }}"
    weights = random_weights(w=(6, 4, 1, 1), c=(6,), s=(1, 6, 1, 1))
    bench = Bench(model_from_text(text, weights))
    candidate = bench.build(ALL_INT8)
    operators = {node.op_type for node in onnx.load_from_string(candidate.model_bytes).graph.node}
    assert operators == {"QuantizeLinear", "DequantizeLinear", "Conv", "Relu"}
    assert _sqnr(bench, candidate.model_bytes) > 28


def test_a_matrix_product_hands_floats_on_and_its_bias_and_gelu_stay_whole() -> None:
    text = """g (float[1, 6, 16] x) => (float[1, 6, 8] y) {
      a = MatMul(x, w)  b = Add(a, c)  d = Sigmoid(b)  y = MatMul(d, v)
    }"""
    bench = Bench(model_from_text(text, random_weights(w=(16, 32), c=(32,), v=(32, 8))))
    candidate = bench.build(ALL_INT8)
    ran = executed(candidate)
    assert (ran["matmul0"], ran["matmul3"]) == ("int8", "int8")
    assert _sqnr(bench, candidate.model_bytes) > 28


def test_layers_inside_branches_are_calibrated_and_lowered_where_the_data_reaches_them() -> None:
    text = """g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) {
      s = ReduceMax<keepdims = 0>(x)  low = Constant<value = float {-1000.0}>()  c = Greater(s, low)
      y = If(c)<
        then_branch = t () => (float[1, 4, 8, 8] a) { a = Conv(x, w1) },
        else_branch = e () => (float[1, 4, 8, 8] b) { b = Conv(x, w2) }>
    }"""
    bench = Bench(model_from_text(text, random_weights(w1=(4, 4, 1, 1), w2=(4, 4, 1, 1))))
    candidate = bench.build(ALL_INT8)
    convolutions = [outcome for outcome in candidate.outcomes if outcome.op == "Conv"]
    assert sorted(outcome.executed for outcome in convolutions) == ["fp32", "int8"]
    left = next(outcome for outcome in convolutions if outcome.executed == "fp32")
    assert "never reached this branch" in left.why
    assert _sqnr(bench, candidate.model_bytes) > 30


def test_weights_in_constant_nodes_are_weights() -> None:
    numbers = ", ".join(str(round(0.1 * i - 0.7, 2)) for i in range(16))
    text = f"""g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) {{
      w = Constant<value = float[4, 4, 1, 1] {{{numbers}}}>()  y = Conv(x, w)
    }}"""
    bench = Bench(model_from_text(text, {}))
    candidate = bench.build(ALL_INT8)
    assert executed(candidate) == {"conv1": "int8"}
    assert "Constant" not in {node.op_type for node in onnx.load_from_string(candidate.model_bytes).graph.node}


def test_weights_behind_a_transpose_and_a_bias_behind_a_reshape_are_worked_in_and_leave_no_trace() -> None:
    text = """g (float[1, 4, 8, 8] x) => (float[1, 6, 8, 8] y) {
      wt = Transpose<perm = [1, 0, 2, 3]>(w)  s = Constant<value = int64[4] {1, 6, 1, 1}>()  bias = Reshape(b, s)
      a = Conv(x, wt)  c = Add(a, bias)  y = Relu(c)
    }"""
    bench = Bench(model_from_text(text, random_weights(w=(4, 6, 1, 1), b=(6,))))
    candidate = bench.build(ALL_INT8)
    operators = {node.op_type for node in onnx.load_from_string(candidate.model_bytes).graph.node}
    assert operators == {"QuantizeLinear", "DequantizeLinear", "Conv", "Relu"}
    assert executed(candidate)["conv3"] == "int8"
    assert _sqnr(bench, candidate.model_bytes) > 28


def test_layers_that_share_a_weight_share_its_integers() -> None:
    text = """g (float[1, 32] x) => (float[1, 32] y) {
      a = Gemm(x, w, b)  c = Tanh(a)  d = Gemm(c, w, b)  e = Tanh(d)  y = Gemm(e, v, b)
    }"""
    bench = Bench(model_from_text(text, random_weights(w=(32, 32), v=(32, 32), b=(32,))))
    candidate = bench.build(ALL_INT8)
    stored = [
        each for each in onnx.load_from_string(candidate.model_bytes).graph.initializer if list(each.dims) == [32, 32]
    ]
    assert [each.data_type for each in stored] == [onnx.TensorProto.INT8, onnx.TensorProto.INT8], "one for w, one for v"
    assert [executed(candidate)[name] for name in ("gemm0", "gemm2", "gemm4")] == ["int8"] * 3
    assert _sqnr(bench, candidate.model_bytes) > 25


def test_a_weight_shared_with_a_layer_that_stays_is_kept_for_it() -> None:
    text = "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { a = Conv(x, w)  b = Relu(a)  y = Conv(b, w) }"
    bench = Bench(model_from_text(text, random_weights(w=(4, 4, 1, 1))))
    candidate = bench.build(Recipe((Rule("layer:conv0", INT8),)))
    assert executed(candidate)["conv0"] == "int8"
    assert executed(candidate)["conv2"] == "fp32"
    assert _sqnr(bench, candidate.model_bytes) > 30


@pytest.mark.parametrize("opset", [11, 12, 13])
def test_an_old_opset_is_lifted_and_the_note_says_so(opset: int) -> None:
    text = "g (float[1, 4, 8, 8] x) => (float[1, 4, 64] y) { a = Conv(x, w)  s = Squeeze<axes = [0]>(a) z = Unsqueeze<axes = [0]>(s) r = Constant<value = int64[3] {1, 4, 64}>() b = Reshape(z, r) y = Softmax<axis = 2>(b) }"  # noqa: E501
    if opset >= 13:
        text = text.replace("Squeeze<axes = [0]>(a)", "Squeeze(a, ax)").replace(
            "Unsqueeze<axes = [0]>(s)", "Unsqueeze(s, ax)"
        )
    weights = random_weights(w=(4, 4, 1, 1))
    if opset >= 13:
        weights = {**weights, "ax": np.array([0], np.int64)}
    bench = Bench(model_from_text(text, weights, opset=opset))
    candidate = bench.build(ALL_INT8)
    assert executed(candidate)["conv0"] == "int8"
    assert any(f"opset {opset}" in note for note in candidate.notes) == (opset < 13)
    assert _sqnr(bench, candidate.model_bytes) > 28


def test_saturating_machines_get_seven_bits_and_a_note_and_depthwise_keeps_eight() -> None:
    text = """g (float[1, 8, 8, 8] x) => (float[1, 8, 8, 8] y) {
      a = Conv(x, w)  y = Conv<group = 8, pads = [1, 1, 1, 1]>(a, d)
    }"""
    bench = Bench(model_from_text(text, random_weights(w=(8, 8, 1, 1), d=(8, 1, 3, 3))))

    def largest(*, saturates: bool) -> dict[tuple[int, ...], int]:
        built = onnx.load_from_string(bench.build(ALL_INT8, saturates=saturates).model_bytes)
        arrays = [onnx.numpy_helper.to_array(stored) for stored in built.graph.initializer]
        return {
            array.shape: int(np.abs(array.astype(int)).max())
            for array in arrays
            if array.dtype == np.int8 and array.ndim == 4
        }

    assert largest(saturates=True) == {(8, 8, 1, 1): 64, (8, 1, 3, 3): 127}
    assert largest(saturates=False) == {(8, 8, 1, 1): 127, (8, 1, 3, 3): 127}
    assert any("7-bit" in note for note in bench.build(ALL_INT8).notes)


def test_options_of_a_rule_reach_the_weights() -> None:
    text = "g (float[1, 8, 8, 8] x) => (float[1, 8, 8, 8] y) { y = Conv(x, w) }"
    bench = Bench(model_from_text(text, random_weights(w=(8, 8, 1, 1))))
    recipe = Recipe((Rule("*", INT8, {"granularity": "tensor", "reduced_range": False}),))
    built = onnx.load_from_string(bench.build(recipe).model_bytes)
    arrays = {stored.name: onnx.numpy_helper.to_array(stored) for stored in built.graph.initializer}
    codes = next(array for array in arrays.values() if array.dtype == np.int8 and array.ndim == 4)
    assert np.abs(codes.astype(int)).max() == 127
    assert all(array.ndim == 0 for name, array in arrays.items() if name.endswith("scale"))


def test_the_largest_depthwise_products_do_not_saturate_with_eight_bit_weights() -> None:
    """A 2-D depthwise kernel sums in 32 bits; if a runtime changes that, this must fail."""
    text = "g (float[1, 16, 6, 6] x) => (float[1, 16, 4, 4] y) { y = Conv<group = 16>(x, d) }"
    bench = Bench(model_from_text(text, {"d": np.ones((16, 1, 3, 3), np.float32)}))
    candidate = bench.build(ALL_INT8)
    assert executed(candidate) == {"conv0": "int8"}
    assert _sqnr(bench, candidate.model_bytes) > 30


def test_nan_weights_are_left_with_a_reason() -> None:
    weight = random_weights(w=(4, 4, 1, 1))["w"]
    weight[0, 0, 0, 0] = np.nan
    text = "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { y = Conv(x, w) }"
    candidate = Bench(model_from_text(text, {"w": weight})).build(ALL_INT8)
    assert candidate.outcomes[0].why == "its weight holds NaN or infinity"
    assert candidate.outcomes[0].executed == "fp32"


def test_an_opset_without_a_way_up_is_named() -> None:
    text = "g (float[1, 4, 8, 8] x) => (float[1, 4, 8, 8] y) { y = Conv(x, w) }"
    bench = Bench(model_from_text(text, random_weights(w=(4, 4, 1, 1)), opset=6))
    with pytest.raises(UnavailableError, match="opset 6"):
        bench.build(ALL_INT8)


def test_every_layer_has_an_outcome_with_a_reason() -> None:
    candidate = _residual().build(ALL_INT8)
    assert [outcome.layer for outcome in candidate.outcomes] == [
        decision.layer for decision in candidate.plan.decisions
    ]
    assert all(outcome.why for outcome in candidate.outcomes)
