from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.measure.advised import Advice
from core.measure.seen import Known, Planned, SeenKernel, SeenLayer
from core.recipe.precision import Precision, Support
from tests.measure.sights import EVEN, chain, layers_of, only, rules

Q, DQ = ("QuantizeLinear", None, 0.3), ("DequantizeLinear", None, 0.2)
FLOAT, INT = ("Conv", "fp32", 2.0), ("QLinearConv", "int8", 1.0)
EXECUTED = Known(offered={"Conv": Support.EXECUTED})


def _about(*parts: tuple[str, str | None, float], own: bool = False, **more: Any) -> dict[str, Any]:
    kernels = chain(*parts, own=own)
    op = more.pop("op", "Conv")
    return {"kernels": kernels, "layers": layers_of(kernels, op), "kernel_ms": 10.0, **more}


def _matches(advice: Advice, precision: Precision) -> list[str]:
    assert advice.change is not None
    assert {rule.precision for rule in advice.change.rules} == {precision}
    return [rule.match for rule in advice.change.rules]


def test_an_int8_island_goes_back_to_fp32() -> None:
    found = only(**_about(FLOAT, Q, INT, DQ, FLOAT))
    assert found.rule == "int8 islands"
    assert found.evidence == (
        "1 stretch of int8 between fp32 layers (QLinearConv2): 2 conversions at the borders take 0.5 ms "
        "(5 % of the kernel time), the layers inside 1 ms."
    )
    assert _matches(found, Precision.FP32) == ["group:QLinearConv2"]


def test_borders_that_cost_little_are_none_of_advices_business() -> None:
    assert rules(**_about(FLOAT, Q, ("QLinearConv", "int8", 3.0), DQ, FLOAT)) == []
    assert rules(**_about(FLOAT, Q, INT, DQ, FLOAT, kernel_ms=100.0)) == []


def test_an_island_that_the_file_itself_has_is_for_who_exports_it() -> None:
    found = only(**_about(FLOAT, Q, INT, DQ, FLOAT, own=True))
    assert found.change is None
    assert "nodes of the file" in found.remedy


def test_an_fp32_island_gets_the_int8_of_its_neighbours() -> None:
    parts = (Q, INT, DQ, ("Conv", "fp32", 0.5), Q, INT, DQ)
    found = only(**_about(*parts, op="Gemm", known=Known(offered={"Gemm": Support.EXECUTED})))
    assert found.rule == "fp32 islands"
    assert _matches(found, Precision.INT8) == ["group:Conv3"]
    refused = only(**_about(*parts, op="Gemm", known=Known(offered={"Gemm": Support.EMULATED})))
    assert refused.change is None
    assert "Gemm has no int8 form that this machine executes" in refused.remedy
    assert only(**_about(*parts, op="Softmax")).change is None


def test_a_round_trip_is_told() -> None:
    found = only(**_about(FLOAT, Q, DQ, FLOAT))
    assert found.rule == "round trips"
    assert found.evidence.startswith("1 tensor read by Conv3: quantized and at once dequantized, in 0.5 ms (5 %")
    assert _matches(found, Precision.FP32) == ["group:Conv3"]
    assert only(**_about(FLOAT, Q, DQ, FLOAT, own=True)).change is None
    assert rules(**_about(FLOAT, Q, DQ, FLOAT, kernel_ms=100.0)) == []


def _tiny(count: int, *, between: str) -> tuple[SeenLayer, ...]:
    made = []
    for number in range(count):
        head = {"precision": "fp32", "limited_by": "overhead"}
        made.append(SeenLayer(f"n{number}", between, 0.02, precision="fp32", readers=(f"w{number}",)))
        made.append(
            SeenLayer(f"w{number}", "Gemm", 0.008, feeders=(f"n{number}",), readers=(f"n{number}",), **head)  # type: ignore[arg-type]
        )
    return tuple(made)


def test_layers_too_small_for_int8_stay_in_fp32_where_int8_needs_conversions() -> None:
    found = only(layers=(*EVEN, *_tiny(3, between="Softmax")))
    assert found.rule == "too small for int8"
    assert "3 layers with weights (w0, w1, w2) take less than 10 µs each, 24 µs together" in found.evidence
    assert _matches(found, Precision.FP32) == ["group:w0", "group:w1", "group:w2"]


def test_small_layers_between_int8_layers_or_too_few_or_not_lowerable_are_let_be() -> None:
    assert rules(layers=(*EVEN, *_tiny(3, between="Conv"))) == []
    assert rules(layers=(*EVEN, *_tiny(2, between="Softmax"))) == []
    unavailable = Known(offered={"Gemm": Support.UNAVAILABLE})
    assert rules(layers=(*EVEN, *_tiny(3, between="Softmax")), known=unavailable) == []


def _mostly_int8(left: int) -> tuple[SeenLayer, ...]:
    lowered = tuple(replace(layer, precision="int8") for layer in EVEN[left:])
    return (*(replace(layer, group=layer.id) for layer in EVEN[:left]), *lowered)


def test_convolutions_left_in_fp32_are_told_with_the_plans_reason_and_may_be_lowered() -> None:
    plan = {"layer0": Planned("fp32", "fp32", "no rule matches")}
    found = only(layers=_mostly_int8(1), known=replace(EXECUTED, plan=plan))
    assert found.rule == "fp32 convolutions left"
    assert "1 of 5 convolutions compute in fp32 (layer0): 2 ms, 20 % of the kernel time." in found.evidence
    assert "Why: no rule matches (1)." in found.evidence
    assert _matches(found, Precision.INT8) == ["group:layer0"]


def test_what_was_refused_is_not_offered_again() -> None:
    plan = {"layer0": Planned("int8", "fp32", "its output is watched")}
    found = only(layers=_mostly_int8(1), known=replace(EXECUTED, plan=plan))
    assert found.change is None
    assert "asked for in int8 already" in found.remedy
    assert only(layers=_mostly_int8(1), known=Known(offered={"Conv": Support.EMULATED})).change is None


def test_a_model_that_is_mostly_fp32_has_nothing_left_over() -> None:
    assert rules(layers=_mostly_int8(3)) == []
    assert rules(layers=_mostly_int8(0)) == []
    little = (replace(EVEN[0], ms=0.1), *_mostly_int8(1)[1:])
    assert rules(layers=little) == []


def _products(kind: str) -> tuple[SeenKernel, ...]:
    return tuple(
        SeenKernel("QLinearConv", 2.0, (layer.id,), None, "int8", (), (), (kind, kind), ends=True) for layer in EVEN
    )


def test_signed_activations_are_told_on_x86_only() -> None:
    found = only(kernels=_products("int8"), x86=True)
    assert found.rule == "signed activations"
    assert "5 of 5 kernels that multiply 8-bit integers read signed activations (s8): 10 ms, 100 %" in found.evidence
    assert found.change is None
    assert rules(kernels=_products("uint8"), x86=True) == []
    assert rules(kernels=_products("int8"), x86=False) == []
    assert rules(kernels=_products("int8"), x86=True, kernel_ms=200.0) == []


def test_convolutions_quantized_dynamically_are_told_with_what_finding_ranges_takes() -> None:
    kernels = (
        SeenKernel("DynamicQuantizeLinear", 0.5, ("round",), None, None, ("x",), ("u8", "s", "z")),
        SeenKernel("ConvInteger", 3.0, ("conv",), None, "int8", ("u8",), ("y",), ("uint8", "int32")),
    )
    found = only(kernels=kernels)
    assert found.rule == "dynamic quantization of convolutions"
    assert "1 convolution quantized dynamically (conv): 3.5 ms, 35 % of the kernel time; 0.5 ms of it" in found.evidence
    products = (kernels[0], replace(kernels[1], op="MatMulIntegerToFloat"))
    assert rules(kernels=products) == []
    assert rules(kernels=kernels, kernel_ms=500.0) == []
