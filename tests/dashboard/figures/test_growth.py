"""Growth: each layer's time over the size of the input, and its exponent in words."""

from __future__ import annotations

import pytest

from dashboard.figures.growth import MOST_LINES, curves, growth_chart, in_words, told_sizes
from dashboard.figures.theme import DARK, LIGHT
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document

GROWTH = deep_profile(inspect_document(60))["growth"]


def test_the_slowest_at_the_largest_input_come_first() -> None:
    found = curves(GROWTH)
    assert [curve.largest_ms for curve in found] == sorted((curve.largest_ms for curve in found), reverse=True)
    assert found[0].elements == (1024.0, 2048.0, 4096.0)


def test_points_are_drawn_in_order_of_size_whatever_order_they_came_in() -> None:
    turned = {
        "points": GROWTH["points"][::-1],
        "layers": [{**row, "ms": row["ms"][::-1]} for row in GROWTH["layers"]],
    }
    assert curves(turned) == curves(GROWTH)
    assert list(growth_chart(turned, LIGHT).data[0].x) == [1024, 2048, 4096]


def test_a_layer_that_did_not_run_at_a_size_has_no_point_there() -> None:
    layers = [{"id": "a", "ms": [1.0, None, 4.0], "exponent": 1.0}, {"id": "b", "ms": [None, None, 0.0]}]
    found = curves({**GROWTH, "layers": layers})
    assert [(curve.layer, curve.elements) for curve in found] == [("a", (1024.0, 4096.0))]


@pytest.mark.parametrize(
    ("exponent", "words"),
    [
        (None, "not known"),
        (-0.5, "gets cheaper"),
        (0.0, "does not grow"),
        (0.5, "grows less than in proportion"),
        (0.97, "grows in proportion"),
        (1.4, "grows more than in proportion"),
        (2.04, "grows with the square"),
        (2.5, "grows faster than the square"),
        (3.0, "grows with the cube"),
        (4.0, "grows faster than the cube"),
    ],
)
def test_an_exponent_is_told_in_words(exponent: float | None, words: str) -> None:
    assert in_words(exponent) == words


def test_few_layers_are_drawn_and_the_chosen_one_among_them() -> None:
    last = curves(GROWTH)[-1].layer
    plain = growth_chart(GROWTH, DARK)
    assert len(plain.data) == 1 + MOST_LINES
    figure = growth_chart(GROWTH, DARK, selected=last)
    assert len(figure.data) == 2 + MOST_LINES
    chosen = figure.data[-1]
    assert set(chosen.customdata) == {last}
    assert chosen.line.width > figure.data[1].line.width


def test_sizes_are_told_with_their_latency() -> None:
    told = told_sizes(GROWTH["points"])
    assert told.startswith("short (x 1x1x32x32) ")
    assert told.count(" ms") == 3


def test_a_growth_without_points_draws_nothing_and_does_not_fail() -> None:
    assert len(growth_chart({"points": [], "layers": []}, LIGHT).data) == 1
