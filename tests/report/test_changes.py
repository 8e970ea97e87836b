from __future__ import annotations

from core.report.changes import advice_lines, change_words


def _rule(match: str, precision: str) -> dict[str, str]:
    return {"match": match, "precision": precision}


def test_a_change_is_told_by_precision_and_setting() -> None:
    rules = [_rule("group:a", "fp32"), _rule("layer:b", "fp32"), _rule("op:Conv", "int8"), _rule("*", "int8")]
    assert change_words({"rules": rules, "session": {}}) == "a, b to fp32; all Conv, everything to int8"
    assert change_words({"rules": [], "session": {"threads": 1, "batch": 4}}) == "1 thread; batch 4"
    many = [_rule(f"group:g{number}", "int8") for number in range(5)]
    assert change_words({"rules": many, "session": {}}) == "g0, g1, g2 and 2 more to int8"


def test_no_change_has_no_words() -> None:
    assert change_words(None) == ""
    assert change_words({"rules": [], "session": {}}) == ""


def test_an_advice_of_an_older_document_is_told_without_a_change() -> None:
    told = {"rule": "r", "evidence": "E.", "consequence": "C.", "remedy": "R."}
    assert advice_lines(told) == ["E.", "C.", "R."]
    change = {"rules": [], "session": {"threads": 2}}
    assert advice_lines({**told, "change": change})[-1] == "Change: 2 threads."
