from __future__ import annotations

import pytest

from core.graph.shapes import Tensor, infer_tensors
from tests.intake.texts import HEAD, load

Q = "float s, uint8 z"
CASES = {
    "like the first input": ("float[2,5,8] x", "com.microsoft.FastGelu (x)", Tensor((2, 5, 8), "float32")),
    "in ONNX's own domain": (
        "float[2,8] x, float[8] w",
        "SimplifiedLayerNormalization (x, w)",
        Tensor((2, 8), "float32"),
    ),
    "fused convolution": (
        "float[1,3,8,8] x, float[4,3,3,3] w",
        "com.microsoft.FusedConv <pads = [1,1,1,1]> (x, w)",
        Tensor((1, 4, 8, 8), "float32"),
    ),
    "transposed product": (
        "float[2,5,3] x, float[2,4,3] w",
        "com.microsoft.FusedMatMul <transB = 1> (x, w)",
        Tensor((2, 5, 4), "float32"),
    ),
    "quantized addition": (
        f"uint8[1,3,4,4] x, {Q}, uint8[1,3,1,1] w, float s2, uint8 z2, float s3, uint8 z3",
        "com.microsoft.QLinearAdd (x, s, z, w, s2, z2, s3, z3)",
        Tensor((1, 3, 4, 4), "uint8"),
    ),
    "block-wise weights": (
        "float[2,5,32] x, uint8[16,1,16] w, float[16] s",
        "com.microsoft.MatMulNBits <K = 32, N = 16, bits = 4, block_size = 32> (x, w, s)",
        Tensor((2, 5, 16), "float32"),
    ),
    "attention": (
        "float[2,5,8] x, float[8,24] w, float[24] b",
        "com.microsoft.Attention <num_heads = 2> (x, w, b)",
        Tensor((2, 5, 8), "float32"),
    ),
    "no rule": ("float[2,2] x", "com.microsoft.Inverse (x)", Tensor(None, "")),
}


@pytest.mark.parametrize("case", CASES)
def test_the_runtimes_own_operators_have_shapes(case: str) -> None:
    given, step, expected = CASES[case]
    model = load(f"g ({given}) => (float[a] out) {{ y = {step}  out = Cast <to = 1> (y) }}", head=HEAD)
    assert infer_tensors(model.ir, {})["y"].outputs[0] == expected
