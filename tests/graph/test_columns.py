from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from core.graph.columns import columns_of, place_in_columns


def test_a_column_is_the_longest_path() -> None:
    assert columns_of(4, [(0, 1), (1, 2), (0, 3), (2, 3)]) == [0, 1, 2, 3]


def test_a_source_moves_next_to_its_reader() -> None:
    assert columns_of(4, [(0, 1), (1, 3), (2, 3)]) == [0, 1, 1, 2]


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(st.just(n), st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))))
    )
)
def test_every_edge_goes_right_and_no_two_nodes_touch(graph: tuple[int, set[tuple[int, int]]]) -> None:
    count, pairs = graph
    edges = sorted((min(pair), max(pair)) for pair in pairs if pair[0] != pair[1])
    points = place_in_columns(count, edges)
    assert all(points[source][0] < points[target][0] for source, target in edges)
    for column in {x for x, _ in points}:
        heights = sorted(y for x, y in points if x == column)
        assert all(after - before >= 1 - 1e-9 for before, after in pairwise(heights))
