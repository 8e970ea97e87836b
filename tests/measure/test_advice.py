from __future__ import annotations

from typing import Any

from core.measure.advice import Seen, advise

NOTHING = {"reorder": 0.0, "quantize": 0.0, "cast": 0.0, "copy": 0.0, "unattributed": 0.0}
EVEN = tuple((f"layer{number}", "Conv", 2.0, "compute") for number in range(5))


def _rules(**changes: Any) -> list[str]:
    seen: dict[str, Any] = {
        "kernel_ms": 10.0, "runs": 50, "disturbed": 0, "buckets": NOTHING, "layers": EVEN,
    }  # fmt: skip
    return [advice.rule for advice in advise(Seen(**{**seen, **changes}))]


def test_an_even_profile_needs_no_advice() -> None:
    assert _rules() == []


def test_layout_changes_and_conversions_are_named_above_a_tenth() -> None:
    assert _rules(buckets={**NOTHING, "reorder": 1.1}) == ["layout changes"]
    assert _rules(buckets={**NOTHING, "reorder": 0.9}) == []
    assert _rules(buckets={**NOTHING, "quantize": 1.5, "cast": 2.0}) == ["cast share", "quantize share"]


def test_one_layer_above_two_fifths_is_named() -> None:
    layers = (("big", "MatMul", 5.0, "memory"), *EVEN[:3])
    (advice,) = advise(Seen(10.0, 50, 0, NOTHING, layers))
    assert advice.rule == "one layer dominates"
    assert "big (MatMul) takes 50 % of the kernel time (5 ms). It is bound by memory." in advice.evidence
    assert "2.0 times" in advice.consequence
    assert _rules(layers=layers[:2]) == []


def test_many_small_kernels_are_named_above_a_quarter() -> None:
    small = tuple((f"s{number}", "Add", 0.009, "overhead") for number in range(40))
    assert _rules(kernel_ms=1.0, layers=small) == ["many small kernels"]
    assert _rules(kernel_ms=2.0, layers=small) == []
    assert _rules(kernel_ms=0.02, layers=small[:2]) == []


def test_time_without_a_layer_and_a_busy_machine_are_told() -> None:
    assert _rules(buckets={**NOTHING, "unattributed": 0.3}) == ["time without a layer"]
    assert _rules(disturbed=45) == ["busy machine"]


def test_the_costliest_comes_first_and_each_says_what_to_do() -> None:
    found = advise(Seen(10.0, 50, 0, {**NOTHING, "reorder": 1.5, "cast": 3.0}, EVEN))
    assert [advice.rule for advice in found] == ["cast share", "layout changes"]
    assert all(all(advice.to_dict().values()) for advice in found)


def test_every_share_says_that_it_is_of_the_kernel_time() -> None:
    small = tuple((f"s{number}", "Add", 0.009, "overhead") for number in range(400))
    buckets = dict.fromkeys(NOTHING, 1.5)
    found = advise(Seen(10.0, 50, 0, buckets, (("big", "MatMul", 5.0, None), *small)))
    told = [advice.evidence for advice in found if "%" in advice.evidence]
    assert len(told) == 6
    assert all("% of the kernel time (" in evidence for evidence in told)
