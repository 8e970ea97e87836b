"""The neighbourhood of a layer: itself, its module, and what is nearest along the links."""

from __future__ import annotations

from typing import Any

from dashboard.figures.neighbourhood import neighbourhood

CHAIN: dict[str, Any] = {
    "nodes": [{"layer": str(n), "x": float(n), "y": 0.0} for n in range(100)],
    "edges": [[str(n), str(n + 1)] for n in range(99)],
}


def seen(layout: dict[str, Any]) -> set[int]:
    return {int(node["layer"]) for node in layout["nodes"]}


def test_it_reaches_as_far_to_both_sides() -> None:
    found = neighbourhood(CHAIN, "50", most=5)
    assert seen(found) == {48, 49, 50, 51, 52}
    assert found["edges"] == [[str(n), str(n + 1)] for n in range(48, 52)]


def test_it_ends_where_the_graph_ends() -> None:
    assert seen(neighbourhood(CHAIN, "0", most=3)) == {0, 1, 2}
    assert len(seen(neighbourhood(CHAIN, "0", most=1_000))) == 100


def test_the_module_is_shown_whole_unless_it_is_too_large() -> None:
    assert {30, 70} <= seen(neighbourhood(CHAIN, "50", together=["30", "70"], most=10))
    assert seen(neighbourhood(CHAIN, "50", together=[str(n) for n in range(90)], most=3)) == {49, 50, 51}
