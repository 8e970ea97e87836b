"""Roofs of a machine: slanted up to the ridge point of each precision, flat from there."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.figures.machine_roofline import machine_roofline
from dashboard.figures.theme import DARK, LIGHT, FigureTheme

ROOFLINE: dict[str, Any] = {
    "gflops": {"fp32": 100.0, "int8": 400.0},
    "gbytes_per_s": 10.0,
    "caches": ({"bytes": 2**20, "gbytes_per_s": 40.0}, {"bytes": 2**24, "gbytes_per_s": 10.5}),
}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_each_precision_has_a_roof_that_bends_at_its_ridge_point(theme: FigureTheme) -> None:
    figure = machine_roofline(ROOFLINE, theme)
    roofs = {trace.name: trace for trace in figure.data if trace.name.endswith("GFLOP/s")}
    assert list(roofs) == ["I int8: 400 GFLOP/s", "F fp32: 100 GFLOP/s"]
    fp32 = roofs["F fp32: 100 GFLOP/s"]
    assert (fp32.x[1], list(fp32.y[1:])) == (10.0, [100.0, 100.0])
    assert fp32.y[0] == pytest.approx(10.0 * fp32.x[0])
    (ridges,) = [trace for trace in figure.data if trace.name == "ridge points"]
    assert list(ridges.x) == [10.0, 40.0]


def test_only_caches_that_are_faster_than_memory_are_drawn_up_to_the_highest_roof() -> None:
    cache = [trace for trace in machine_roofline(ROOFLINE, LIGHT).data if trace.name.startswith("working sets")]
    assert len(cache) == 1
    assert (cache[0].x[1], cache[0].y[1]) == (10.0, 400.0)


def test_without_figures_there_is_an_empty_chart() -> None:
    assert not machine_roofline({"gflops": {}, "gbytes_per_s": 0.0, "caches": ()}, LIGHT).data
