from __future__ import annotations

import pytest

from core.graph.layer import Layer
from core.graph.read import read_layers
from tests.intake.texts import HEAD, load

CASES = {
    # outputs 1x4x6x6, each 3 channels x 3x3
    "conv": ("float[1,3,8,8] x", "Conv (x, w)", "float[4,3,3,3] w", 4 * 36 * 27),
    # two groups: each output reads 2 channels
    "grouped conv": ("float[1,4,8,8] x", "Conv <group = 2> (x, w)", "float[6,2,3,3] w", 6 * 36 * 18),
    # inputs 1x3x4x4, each spread over 2 channels x 2x2
    "transposed conv": ("float[1,3,4,4] x", "ConvTranspose (x, w)", "float[3,2,2,2] w", 48 * 8),
    "matmul": ("float[5,7,3] x", "MatMul (x, w)", "float[3,4] w", 5 * 7 * 3 * 4),
    "gemm, transposed": ("float[3,5] x", "Gemm <transA = 1, transB = 1> (x, w)", "float[4,3] w", 5 * 3 * 4),
    "einsum": ("float[5,3] x", 'Einsum <equation = "ij,jk->ik"> (x, w)', "float[3,4] w", 60),
    "add": ("float[5,3] x", "Add (x, w)", "float[3] w", 0),
    "fused conv": ("float[1,3,8,8] x", "com.microsoft.FusedConv (x, w)", "float[4,3,3,3] w", 4 * 36 * 27),
}


def only(text: str, head: str = HEAD) -> Layer:
    return read_layers(load(text, head=head)).layers[0]


def fed(given: str, step: str, weight: str) -> Layer:
    """One layer whose weight is an input, so that no numbers need to be written."""
    return only(f"g ({given}, {weight}) => (float[a,b,c,d] y) {{ y = {step} }}")


@pytest.mark.parametrize("case", CASES)
def test_multiply_accumulates_follow_the_stated_rule(case: str) -> None:
    given, step, weight, macs = CASES[case]
    assert fed(given, step, weight).macs == macs


def test_recurrent_layers_count_all_gates_of_all_steps() -> None:
    layer = only(
        "g (float[5,2,3] x, float[1,16,3] w, float[1,16,4] r) => (float[a,b,c,d] y)"
        " { y = LSTM <hidden_size = 4> (x, w, r) }"
    )
    assert layer.macs == 5 * 2 * 16 * (3 + 4)


def test_fused_attention_counts_projections_and_both_products() -> None:
    layer = only(
        "g (float[1,6,8] x, float[8,24] w, float[24] b) => (float[1,6,8] y)"
        " { y = com.microsoft.Attention <num_heads = 2> (x, w, b) }"
    )
    assert layer.macs == 6 * 8 * 24 + 2 * 6 * 8 * 6


def test_an_unknown_shape_or_call_gives_none() -> None:
    unknown = read_layers(
        load("g (float[2,2] x) => (float[n,m] z) { y = com.microsoft.Inverse (x)  z = MatMul (y, x) }")
    )
    assert unknown.layer("z").macs is None
    called = only(
        'g (float[2] x) => (float[2] y) { y = f.Twice (x) } <domain: "f", opset_import: ["" : 17]> Twice (a) => (b)'
        " { b = Add (a, a) }",
        head='<ir_version: 8, opset_import: ["" : 17, "f" : 1]>\n',
    )
    assert called.macs is None


def test_weights_count_as_stored_and_indices_are_no_parameters() -> None:
    layer = only(
        "g (float[2,2] x) => (float[a] y) <int64[1] shape = {4}> { y = Reshape (x, shape) }",
    )
    assert (layer.parameters, layer.weight_bytes) == (0, 8)
    layer = only("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Sum (x, w, w) }")
    assert (layer.parameters, layer.weight_bytes) == (2, 8)


def test_numbers_in_attributes_of_classical_models_are_parameters() -> None:
    layer = only(
        "g (float[1,2] x) => (float[1,2] y) { y = ai.onnx.ml.Scaler <offset = [1.0, 2.0], scale = [1.0, 1.0]> (x) }",
        head='<ir_version: 8, opset_import: ["ai.onnx.ml" : 1]>\n',
    )
    assert (layer.parameters, layer.weight_bytes) == (4, 16)


def test_activation_bytes_are_what_is_written() -> None:
    assert only("g (float16[3,5] x) => (float16[3,5] y) { y = Relu (x) }").activation_bytes == 30
    assert only("g (string[3] x) => (string[3] y) { y = Identity (x) }").activation_bytes is None
