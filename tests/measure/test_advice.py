from __future__ import annotations

from core.measure.advice import RULES, advise
from core.measure.seen import SeenLayer
from tests.measure.sights import EVEN, NOTHING, rules, sight


def test_an_even_profile_needs_no_advice() -> None:
    assert rules() == []


def test_nothing_at_all_needs_no_advice() -> None:
    assert rules(kernel_ms=0.0, layers=(), runs=0, wall_ms=None) == []


def test_the_costliest_comes_first_and_each_says_what_to_do() -> None:
    found = advise(sight(buckets={**NOTHING, "reorder": 1.5, "cast": 3.0}, layers=EVEN))
    assert [advice.rule for advice in found] == ["cast share", "layout changes"]
    for advice in found:
        told = advice.to_dict()
        assert all(told[name] for name in ("rule", "evidence", "consequence", "remedy"))
        assert told["change"] is None


def test_every_share_says_that_it_is_of_the_kernel_time() -> None:
    small = tuple(SeenLayer(f"s{number}", "Add", 0.009, "overhead") for number in range(400))
    buckets = dict.fromkeys(NOTHING, 1.5)
    found = advise(sight(buckets=buckets, layers=(SeenLayer("big", "MatMul", 5.0), *small)))
    told = [advice.evidence for advice in found if "%" in advice.evidence]
    assert len(told) == 6
    assert all("% of the kernel time (" in evidence for evidence in told)


def test_every_rule_says_in_a_line_when_it_fires() -> None:
    assert len(set(RULES)) == len(RULES)
    assert all((rule.__doc__ or "").strip() for rule in RULES)
