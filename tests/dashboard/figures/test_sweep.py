"""The grid of a sweep: a cell for each pair, what it says, what could not run, and the frame around the sweet spot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dashboard.figures.sweep import hover, sweep_grid
from dashboard.figures.theme import DARK, LIGHT, FigureTheme


def cell(threads: int, batch: int, ms: float | None, *, why: str | None = None, beyond: bool = False) -> dict[str, Any]:
    latency = (
        None
        if ms is None
        else {"median": ms, "mean": ms, "ci95": [ms * 0.9, ms * 1.1], "p95": ms * 1.2, "basis": "wall"}
    )
    rate = None if ms is None else 1e3 * batch / ms
    return {
        "threads": threads, "batch": batch, "latency_ms": latency, "throughput": rate, "why": why, "disturbed": 0,
        "throughput_ci95": None if rate is None else [rate * 0.9, rate * 1.1], "runs": 100, "oversubscribed": beyond,
        "conditions": None,
    }  # fmt: skip


def document(**changes: Any) -> dict[str, Any]:
    cells = [
        cell(1, 1, 2.0),
        cell(1, 4, 6.0),
        cell(2, 1, 1.5),
        cell(2, 4, 4.0),
        cell(3, 1, None),
        cell(3, 4, 9.0, beyond=True),
    ]
    spot = {"threads": 2, "batch": 4, "throughput": 1000.0, "latency_ms": cells[3]["latency_ms"]}
    return {"cells": cells, "limit_ms": None, "sweet_spot": spot, "why": "It is best.", **changes}


def _texts(figure: Any) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_pair_has_its_cell_and_the_best_a_frame_with_words(theme: FigureTheme) -> None:
    figure = sweep_grid(document(), theme)
    rates = np.array(figure.data[0].z, dtype=float)
    assert rates.shape == (3, 2)
    assert rates[1, 1] == pytest.approx(1000.0)
    assert np.isnan(rates[2, 0])
    assert "<b>1000</b><br>4.80 ms" in _texts(figure)
    assert "sweet spot" in _texts(figure)
    (frame,) = figure.layout.shapes
    assert (frame.x0 < 1 < frame.x1, frame.y0 < 1 < frame.y1) == (True, True)


def test_what_misses_the_limit_and_what_cannot_run_says_so() -> None:
    failed = cell(1, 8, None, why="Samples <cannot> run together.")
    figure = sweep_grid(document(cells=[cell(1, 1, 2.0), failed], limit_ms=1.0, sweet_spot=None), LIGHT)
    assert _texts(figure) == ["<b>500</b><br>2.40 ms – too late", "cannot run"]
    assert hover(failed) == "<b>1 thread, batch 8</b><br>Samples &lt;cannot&gt; run together."
    assert not figure.layout.shapes


def test_cells_that_were_not_measured_yet_are_waited_for() -> None:
    figure = sweep_grid(document(cells=[cell(1, 1, None)], sweet_spot=None), LIGHT)
    assert _texts(figure) == ["…"]
    assert sweep_grid({"cells": []}, LIGHT).layout.height > 0


def test_more_threads_than_processors_are_marked_on_the_axis_and_told() -> None:
    figure = sweep_grid(document(), LIGHT)
    assert list(figure.layout.yaxis.ticktext) == ["1", "2", "3 (more than<br>processors)"]
    assert "more threads than processors" in hover(cell(3, 1, 2.0, beyond=True))
    assert hover(None) == ""
