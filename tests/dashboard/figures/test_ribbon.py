"""The ribbon: links lead to the right, layers stand close to what they feed, no column is needlessly high."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.figures.ribbon import HIGHEST_COLUMN, ribbon_columns


def layout(edges: list[tuple[str, str]], depth: dict[str, float]) -> dict[str, Any]:
    nodes = [{"layer": layer, "x": x, "y": 0.0} for layer, x in depth.items()]
    return {"nodes": nodes, "edges": [list(edge) for edge in edges]}


def test_a_layer_stands_just_before_what_it_feeds() -> None:
    chain = [(f"n{i}", f"n{i + 1}") for i in range(9)]
    depth = {f"n{i}": float(i) for i in range(10)}
    columns = ribbon_columns(
        layout([*chain, ("weight", "n8"), ("n0", "short"), ("short", "n5")], {**depth, "weight": 0, "short": 1})
    )
    assert columns["weight"] == columns["n8"] - 1
    assert columns["short"] == columns["n5"] - 1
    assert [columns[f"n{i}"] for i in range(10)] == list(range(10))


def test_parts_that_no_link_joins_follow_one_another() -> None:
    columns = ribbon_columns(layout([("a", "b"), ("c", "d")], {"a": 0, "b": 1, "c": 0, "d": 1}))
    assert columns == {"a": 0, "b": 1, "c": 3, "d": 4}


def test_many_constants_of_one_layer_are_spread_over_columns() -> None:
    depth = {f"w{i}": 0.0 for i in range(40)} | {"sum": 1.0}
    columns = ribbon_columns(layout([(f"w{i}", "sum") for i in range(40)], depth))
    assert max(Counter(columns.values()).values()) <= HIGHEST_COLUMN
    assert all(columns[f"w{i}"] < columns["sum"] for i in range(40))


def test_a_link_that_does_not_lead_to_the_right_does_no_harm() -> None:
    assert set(ribbon_columns(layout([("a", "b"), ("b", "a"), ("a", "gone")], {"a": 0, "b": 1}))) == {"a", "b"}


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), max_size=60))
def test_every_link_leads_to_the_right(pairs: list[tuple[int, int]]) -> None:
    edges = [(f"n{min(pair):02}", f"n{max(pair):02}") for pair in pairs if pair[0] != pair[1]]
    depth = {f"n{i:02}": float(i) for i in range(26)}
    columns = ribbon_columns(layout(edges, depth))
    assert set(columns) == set(depth)
    assert all(columns[source] < columns[target] for source, target in edges)
    assert min(columns.values()) == 0
