from __future__ import annotations

from dataclasses import replace

import pytest

from core.measure.seen import Known, SeenKernel, SeenLayer, SweptTime
from core.recipe.precision import Precision, Support
from tests.measure.sights import EVEN, NOTHING, only, rules

INT8_CONV = Known(offered={"Conv": Support.EXECUTED, "MatMul": Support.EMULATED})
BIG = SeenLayer("big", "Conv", 5.0, "memory", precision="fp32", group="big")


def test_layout_changes_are_named_above_a_tenth_with_the_layers_beside_them() -> None:
    assert rules(buckets={**NOTHING, "reorder": 0.9}) == []
    kernels = (
        SeenKernel("Conv", 2.0, ("layer0",), None, "fp32", (), ("a",)),
        SeenKernel("ReorderOutput", 1.1, (), "reorder", "fp32", ("a",), ("b",)),
        SeenKernel("Softmax", 2.0, ("layer1",), None, "fp32", ("b",), ("c",)),
    )
    found = only(buckets={**NOTHING, "reorder": 1.1}, kernels=kernels)
    assert found.rule == "layout changes"
    assert found.evidence.endswith("They stand beside layer0, layer1.")
    assert found.layers == ("layer0", "layer1")


def test_conversions_are_named_above_a_tenth_also_where_the_file_has_them() -> None:
    assert rules(buckets={**NOTHING, "quantize": 1.5, "cast": 2.0}) == ["cast share", "quantize share"]
    assert rules(buckets={**NOTHING, "quantize": 0.9}) == []
    own = SeenLayer("q", "DequantizeLinear", 1.5)
    assert rules(layers=(*EVEN[:4], own)) == ["quantize share"]


def test_one_layer_above_two_fifths_is_named_and_may_be_tried_in_int8() -> None:
    found = only(layers=(BIG, *EVEN[:3]), known=INT8_CONV)
    assert found.rule == "one layer dominates"
    assert "big (Conv) takes 50 % of the kernel time (5 ms). It is bound by memory." in found.evidence
    assert "2.0 times" in found.consequence
    assert found.change is not None
    (rule,) = found.change.rules
    assert (rule.match, rule.precision) == ("group:big", Precision.INT8)
    assert rules(layers=(replace(BIG, ms=3.9), *EVEN[:3])) == []
    assert rules(layers=(BIG, EVEN[0])) == []


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        (replace(BIG, op="MatMul"), "no int8 kernel for MatMul"),
        (replace(BIG, op="LSTM"), "No recipe gives LSTM a faster form"),
        (replace(BIG, precision="int8"), "in int8 already"),
    ],
)
def test_what_this_machine_does_not_execute_is_not_offered(layer: SeenLayer, told: str) -> None:
    found = only(layers=(layer, *EVEN[:3]), known=INT8_CONV)
    assert found.change is None
    assert told in found.remedy


def test_many_small_kernels_are_named_above_a_quarter() -> None:
    small = tuple(SeenLayer(f"s{number}", "Add", 0.009, "overhead") for number in range(40))
    found = only(kernel_ms=1.0, layers=small)
    assert found.rule == "many small kernels"
    assert "36 % of the kernel time (0.36 ms) is in 40 layers" in found.evidence
    assert found.change is None
    assert rules(kernel_ms=2.0, layers=small) == []
    assert rules(kernel_ms=0.02, layers=small[:2]) == []


def test_the_batch_that_a_sweep_found_best_is_offered_with_its_figure() -> None:
    small = tuple(SeenLayer(f"s{number}", "Add", 0.009, "overhead") for number in range(40))
    swept = (SweptTime(1, 1, 1.0, (0.9, 1.1), 1000.0), SweptTime(1, 8, 4.0, (3.9, 4.1), 2000.0))
    found = only(kernel_ms=1.0, layers=small, known=Known(swept=swept))
    assert found.change is not None
    assert dict(found.change.session) == {"batch": 8}
    assert "a sweep measured 2.00 times the samples per second" in found.remedy
    worse = (swept[0], replace(swept[1], throughput=900.0))
    assert only(kernel_ms=1.0, layers=small, known=Known(swept=worse)).change is None


def test_a_layer_far_below_the_roof_is_named_where_it_takes_a_tenth() -> None:
    slow = replace(EVEN[0], attained=0.1, gflops=4.2)
    found = only(layers=(slow, *EVEN[1:]))
    assert found.rule == "far below the roof"
    assert "reaches 10 % of what this machine could do (4.2 GFLOP/s)" in found.evidence
    assert found.consequence == "At the roof it would take 0.2 ms."
    assert rules(layers=(replace(slow, attained=0.3), *EVEN[1:])) == []
    assert rules(layers=(replace(slow, ms=0.9), *EVEN[1:])) == []
    assert rules(layers=(replace(slow, limited_by="overhead"), *EVEN[1:])) == []


def test_time_without_a_layer_and_a_busy_machine_are_told() -> None:
    assert rules(buckets={**NOTHING, "unattributed": 0.3}) == ["time without a layer"]
    assert rules(buckets={**NOTHING, "unattributed": 0.1}) == []
    assert rules(disturbed=45) == ["busy machine"]
    assert rules(disturbed=30) == []
