from __future__ import annotations

import math

import pytest

from core.search.ladder import highest_rung, ladders
from core.search.mixes import Mix

GROUPS = [f"g{i}" for i in range(12)]


def test_ladders_order_by_harm_and_gain_and_place() -> None:
    noise = {"a": 1.0, "b": 2.0, "c": 0.5}
    orders = ladders(["a", "b", "c"], noise, {"a": 1.0, "b": 8.0, "c": 0.1})
    assert orders["least harm"] == ["c", "a", "b"]
    assert orders["least harm per gain"] == ["b", "a", "c"]
    assert orders["from the end"] == ["c", "b", "a"]
    assert orders["from the start"] == ["a", "b", "c"]


@pytest.mark.parametrize("allowed", range(13))
@pytest.mark.parametrize("predicted", [0.5, 3.0, 100.0, math.inf])
def test_the_highest_rung_is_found_wherever_the_prediction_starts(allowed: int, predicted: float) -> None:
    tried: list[Mix] = []

    def accepts(mix: Mix) -> bool:
        tried.append(mix)
        return len(mix) <= allowed

    mix = highest_rung(GROUPS, accepts, dict.fromkeys(GROUPS, 1.0), predicted)
    assert mix == frozenset(GROUPS[:allowed])
    assert len(tried) == len(set(tried)) <= 12


def test_nothing_accepted_gives_an_empty_mix() -> None:
    assert highest_rung(GROUPS, lambda mix: False, dict.fromkeys(GROUPS, 1.0), 1.0) == frozenset()


def test_no_groups_give_an_empty_mix() -> None:
    assert highest_rung([], lambda mix: True, {}, 1.0) == frozenset()
