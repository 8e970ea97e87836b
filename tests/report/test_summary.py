"""A summary tells the gain first, in lines of plain text."""

from __future__ import annotations

from core.report.summary import headline, summarize, target_of
from tests.report.test_html import optimized


def whole() -> dict[str, object]:
    document = optimized()
    document["comparison"]["memory"] = {"before_bytes": 10, "after_bytes": 9}
    document["conditions"] = None
    return document


def test_the_gain_comes_first() -> None:
    assert "2.50x as fast as the original (95 % interval 2.40–2.60x)" in summarize(whole()).splitlines()[0]


def test_every_line_is_one_fact() -> None:
    lines = summarize(whole()).splitlines()
    told = {line.split(":")[0].strip() for line in lines[1:]}
    assert {"why", "target", "latency", "size", "memory", "accuracy", "fidelity", "layers", "note", "dynamic"} <= told


def test_unchanged_and_unmeasured_are_said() -> None:
    assert headline({**optimized(), "model": "m", "unchanged": True}) == "m: unchanged, the original stays"
    assert headline({"name": "n"}) == "n: built, not measured"


def test_the_target_is_found_in_either_document() -> None:
    assert target_of({"target": None, "comparison": {"ratio": {}, "gate": {"text": "a", "met": True}}}) == {
        "text": "a",
        "met": True,
    }
    assert target_of({"target": {"text": None}}) is None
