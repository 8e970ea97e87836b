"""Lanes: chains are straight, every layer has a lane of its own, a row is as high as its highest column."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.figures.lanes import lanes_of_row
from dashboard.figures.ribbon import neighbours


def lanes(columns: dict[str, int], edges: list[tuple[str, str]]) -> dict[str, int]:
    before, behind = neighbours(columns, edges)
    heights = {layer: float(number) for number, layer in enumerate(columns)}
    return lanes_of_row(list(columns), columns, heights, before, behind)


def test_a_chain_is_straight_and_a_branch_lies_beneath_it() -> None:
    columns = {"a": 0, "b": 1, "c": 2, "side": 2, "d": 3, "e": 4}
    edges = [("a", "b"), ("b", "c"), ("a", "side"), ("c", "d"), ("side", "d"), ("d", "e")]
    found = lanes(columns, edges)
    assert {found[layer] for layer in "abcde"} == {0}
    assert found["side"] == 1


def test_a_layer_that_nothing_feeds_lies_near_what_it_feeds() -> None:
    columns = {"a": 0, "b": 1, "w": 1, "c": 2, "x": 2}
    found = lanes(columns, [("a", "b"), ("b", "c"), ("w", "x")])
    assert (found["w"], found["x"]) == (1, 1)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_lanes_are_unique_within_a_column_and_a_row_is_never_higher_than_it_must_be(
    places: list[int], chance: object
) -> None:
    assert hasattr(chance, "random")
    columns = {f"n{number}": column for number, column in enumerate(places)}
    names = list(columns)
    edges = [(a, b) for a in names for b in names if columns[a] < columns[b] and chance.random() < 0.2]
    found = lanes(columns, edges)
    taken = [(columns[layer], found[layer]) for layer in names]
    assert len(set(taken)) == len(taken)
    assert max(found.values()) < max(places.count(column) for column in set(places))
    assert min(found.values()) >= 0
