"""How many layers were lowered, and why the others were not, in a few lines."""

from __future__ import annotations

from core.report.lines import difference_lines, left_lines, lowered_line


def layer(produced: str, why: str = "", executed: str | None = None) -> dict[str, str]:
    return {"produced": produced, "executed": executed or produced, "why": why}


def test_lowered_layers_are_counted_by_precision() -> None:
    assert lowered_line([layer("int8"), layer("int8"), layer("fp32")]) == "2 of 3 lowered: int8 2"
    assert lowered_line([layer("fp32")]) == "0 of 1 lowered"


def test_reasons_are_counted_and_the_rare_ones_summed() -> None:
    rows = [layer("fp32", why) for why in ("a", "a", "b", "c", "d")]
    assert left_lines(rows) == [
        "2 in fp32: a",
        "1 in fp32: b",
        "1 in fp32: c",
        "1 more in fp32, each with its reason in the report",
    ]


def test_layers_that_are_not_run_in_fp32_are_not_left_in_it() -> None:
    assert left_lines([layer("fp32", "a", "folded"), layer("fp32", "b", "int8"), layer("int8")]) == []


def test_differences_name_the_layer_where_there_is_one() -> None:
    rows = [
        {"layer": "head", "what": "changed", "why": "had 2 weights, has 1"},
        {"layer": None, "what": "rule dropped", "why": "no Softmax"},
    ]
    assert difference_lines({"differences": rows}) == [
        "'head' changed: had 2 weights, has 1",
        "rule dropped: no Softmax",
    ]
    assert difference_lines({}) == []
