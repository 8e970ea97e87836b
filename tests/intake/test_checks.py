from __future__ import annotations

import onnx.parser

from core.intake.load import load_model
from tests.intake.texts import HEAD, load


def told(text: str) -> list[tuple[str, str]]:
    return [(finding.severity, finding.message) for finding in load(text).findings]


def test_a_sound_model_has_no_findings() -> None:
    assert told("g (float[2] x) => (float[2] y) { [act] y = Relu (x) }") == []


def test_shapes_that_do_not_fit_are_a_warning_since_the_runtime_has_the_last_word() -> None:
    found = told("g (float[n,4] x) => (float[n,4] y) <float[5,1] w = {1,1,1,1,1}> { y = MatMul (x, w) }")
    assert [severity for severity, _ in found] == ["warning"]
    assert "Incompatible dimensions" in found[0][1]


def test_what_only_the_checker_refuses_is_a_warning() -> None:
    proto = onnx.parser.parse_model(HEAD + "g (float[2] x) => (float[2] y) { [act] y = Relu (x) }")
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    findings = load_model(proto.SerializeToString()).findings
    assert [finding.severity for finding in findings] == ["warning"]
    assert findings[0].message.startswith("ONNX's checker refuses")


def test_weights_with_nan_are_named() -> None:
    proto = onnx.parser.parse_model(
        HEAD + "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { [a] y = Add (x, w) }"
    )
    proto.graph.initializer[0].float_data[1] = float("nan")
    findings = load_model(proto.SerializeToString()).findings
    assert [(finding.severity, finding.message) for finding in findings] == [("warning", "The weight 'w' holds NaN.")]


def test_a_quantized_model_is_told_as_such() -> None:
    found = told(
        "g (float[2] x) => (float[2] y) <float s = {0.1}, uint8 z = {0}> {"
        " [q] q = QuantizeLinear (x, s, z)  [d] y = DequantizeLinear (q, s, z) }"
    )
    assert [severity for severity, _ in found] == ["note"]
    assert "1 QuantizeLinear, 1 DequantizeLinear" in found[0][1]
