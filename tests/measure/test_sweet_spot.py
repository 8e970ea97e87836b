from __future__ import annotations

from core.measure.calm import Basis
from core.measure.sweep_plan import Cell
from core.measure.sweet_spot import sweet_spot
from core.measure.swept import CellLatency, SweptCell


def _cell(
    threads: int, batch: int, ms: float, *, p95: float | None = None, spread: float = 0.01, basis: Basis = "wall",
    kept: bool = False,
) -> SweptCell:  # fmt: skip
    interval = (ms * (1 - spread), ms * (1 + spread))
    latency = CellLatency(ms, ms, interval, p95 or 1.05 * ms, basis, 100, 0, kept)
    return SweptCell(Cell(threads, batch), latency, None, False, None)


GRID = (_cell(1, 1, 2.0), _cell(1, 4, 6.0), _cell(2, 1, 1.5), _cell(2, 4, 4.0))


def test_without_a_limit_the_most_samples_per_second_win() -> None:
    spot, why = sweet_spot(GRID, None)
    assert spot is GRID[3]
    assert why == (
        "2 threads, batch 4 gives the most samples per second: 1000 samples/s, 95 of 100 runs within 4.2 ms."
    )


def test_a_limit_is_kept_by_the_95th_percentile_not_by_the_mean() -> None:
    late = _cell(2, 4, 4.0, p95=5.5)
    spot, why = sweet_spot((*GRID[:3], late), 5.0)
    assert spot is GRID[2]
    assert "of the cells that keep 5 ms in 95 of 100 runs" in why
    assert sweet_spot((*GRID[:3], late), 5.5)[0] is late


def test_where_no_cell_keeps_the_limit_the_nearest_is_named() -> None:
    spot, why = sweet_spot(GRID, 1.0)
    assert spot is None
    assert why == "No cell keeps 1 ms in 95 of 100 runs; the nearest is 2 threads, batch 1 with 1.58 ms."


def test_a_cell_as_good_as_the_best_with_fewer_threads_is_taken() -> None:
    cells = (_cell(1, 8, 8.1), _cell(2, 8, 8.0))
    spot, why = sweet_spot(cells, None)
    assert spot is cells[0]
    assert "is as good as the best" in why
    assert "2 threads, batch 8 gives 1000 samples/s, which is no clear gain." in why
    sure = (_cell(1, 8, 8.1, spread=0.001), _cell(2, 8, 8.0, spread=0.001))
    assert sweet_spot(sure, None)[0] is sure[1]
    wide = (_cell(1, 8, 9.0, spread=0.2), _cell(2, 8, 8.0, spread=0.2))
    assert sweet_spot(wide, None)[0] is wide[1]


def test_cells_without_a_figure_are_no_answer() -> None:
    failed = SweptCell(Cell(1, 2), None, "Samples cannot run together: x has 1 fixed.", False, None)
    assert sweet_spot((failed,), None) == (
        None,
        "No cell could be measured: Samples cannot run together: x has 1 fixed.",
    )
    assert sweet_spot((failed, GRID[0]), None)[0] is GRID[0]


def test_a_busy_machine_is_told_beside_the_answer() -> None:
    assert "processor time" in sweet_spot((*GRID, _cell(1, 8, 9.0, basis="processor")), None)[1]
    assert "disturbed" in sweet_spot((*GRID, _cell(2, 8, 9.0, kept=True)), None)[1]
