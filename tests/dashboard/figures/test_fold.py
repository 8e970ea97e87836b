"""Folding: every layer has a place of its own, order is kept, links run between the cells."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.figures.fold import CELL_HEIGHT, CELL_WIDTH, Fold, fold_layout
from tests.dashboard.documents import inspect_document


def chain(length: int) -> dict[str, Any]:
    nodes = [{"layer": f"n{i}", "x": float(i), "y": 0.0} for i in range(length)]
    return {"nodes": nodes, "edges": [[f"n{i}", f"n{i + 1}"] for i in range(length - 1)]}


def overlapping(fold: Fold) -> list[tuple[str, str]]:
    places = sorted(fold.places.items(), key=lambda item: (item[1][0], item[1][1]))
    found = []
    for (one, (x1, y1)), (other, (x2, y2)) in itertools.pairwise(places):
        if x1 == x2 and y2 - y1 < CELL_HEIGHT:
            found.append((one, other))
    return found


def test_a_short_chain_is_one_row_from_left_to_right() -> None:
    fold = fold_layout(chain(8))
    assert len(fold.rows) == 1
    assert [fold.places[f"n{i}"] for i in range(8)] == [(float(i), 0.0) for i in range(8)]


def test_a_long_chain_is_broken_into_rows_that_are_read_like_text() -> None:
    fold = fold_layout(chain(300))
    assert len(fold.rows) > 1
    order = sorted(fold.places, key=lambda layer: (fold.row_of[layer], fold.places[layer][0]))
    assert order == [f"n{i}" for i in range(300)]


def test_folding_makes_the_cells_of_a_long_model_larger() -> None:
    assert fold_layout(chain(300)).cell_px(860) > 3 * 860 / 300


@pytest.mark.parametrize("layers", [10, 60, 300, 1100])
def test_every_layer_has_a_place_of_its_own(layers: int) -> None:
    layout = inspect_document(layers)["layout"]
    fold = fold_layout(layout)
    assert set(fold.places) == {node["layer"] for node in layout["nodes"]}
    assert overlapping(fold) == []
    assert len(fold.links) == len(layout["edges"])


def test_links_do_not_run_through_cells() -> None:
    fold = fold_layout(inspect_document(60)["layout"])
    middles = list(fold.places.values())
    for link in fold.links:
        for (x1, y1), (x2, y2) in itertools.pairwise(link):
            assert x1 == x2 or y1 == y2, "links run at right angles"
            for x, y in middles:
                inside_x = min(x1, x2) < x + CELL_WIDTH / 2 - 0.01 and max(x1, x2) > x - CELL_WIDTH / 2 + 0.01
                inside_y = min(y1, y2) < y + CELL_HEIGHT / 2 - 0.01 and max(y1, y2) > y - CELL_HEIGHT / 2 + 0.01
                assert not (inside_x and inside_y), f"{link} runs through the cell at {(x, y)}"


def test_a_link_from_row_to_row_starts_and_ends_at_its_layers() -> None:
    fold = fold_layout(chain(300))
    wrapped = [link for link in fold.links if abs(link[0][1] - link[-1][1]) > 1]
    assert len(wrapped) == len(fold.rows) - 1
    for link in wrapped:
        assert (link[0][0] - CELL_WIDTH / 2, link[0][1]) in fold.places.values()
        assert (link[-1][0] + CELL_WIDTH / 2, link[-1][1]) in fold.places.values()


def test_ten_thousand_layers_are_all_in_sight_as_cells_of_some_pixels() -> None:
    width, height = 720.0, 380.0
    fold = fold_layout(chain(10_000), width=width, height=height)
    assert len(fold.places) == 10_000
    assert fold.cell_px(width) > 2.5
    assert height / fold.lanes > 2.5


def test_an_empty_layout_folds_to_nothing() -> None:
    fold = fold_layout({"nodes": [], "edges": []})
    assert (dict(fold.places), fold.rows, fold.links) == ({}, (), ())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.floats(-5, 5)), min_size=1, max_size=80))
def test_no_two_cells_overlap_whatever_the_layout(points: list[tuple[int, float]]) -> None:
    nodes = [{"layer": str(number), "x": float(x), "y": y} for number, (x, y) in enumerate(points)]
    fold = fold_layout({"nodes": nodes, "edges": [["0", str(len(points) - 1)]]})
    assert len(fold.places) == len(points)
    assert overlapping(fold) == []
