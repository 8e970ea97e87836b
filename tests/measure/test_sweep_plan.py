from __future__ import annotations

import pytest

from core.errors import RequestError
from core.measure.sweep_plan import (
    FEWEST_ROUNDS,
    MOST_ROUNDS,
    Cell,
    estimate_s,
    grid,
    rounds_of,
    usual_threads,
    visit_of,
)


def test_the_grid_has_every_pair_once_in_order() -> None:
    assert grid((2, 1, 2), (4, 1)) == (Cell(1, 1), Cell(1, 4), Cell(2, 1), Cell(2, 4))


@pytest.mark.parametrize(
    ("threads", "batches", "told"),
    [
        ((), (1,), "at least one number for 'threads'"),
        ((1,), (0,), "whole numbers of at least 1, not 0"),
        (range(1, 10), range(1, 10), "81 cells are more than 64"),
    ],
)
def test_a_grid_that_means_nothing_is_refused(threads: tuple[int, ...], batches: tuple[int, ...], told: str) -> None:
    with pytest.raises(RequestError, match=told):
        grid(threads, batches)


def test_short_runs_are_repeated_within_a_visit_and_long_ones_are_not_warmed() -> None:
    assert visit_of(1.0).times == 50
    assert visit_of(1.0).warm == 4
    assert visit_of(25.0) == visit_of(25.0).__class__(0, 2)
    assert visit_of(900.0).times == 1


def test_rounds_are_fewer_where_all_of_them_would_take_minutes() -> None:
    cells = grid((1, 2), (1, 2, 4, 8))
    assert rounds_of(cells, 2.0) == MOST_ROUNDS
    assert rounds_of(cells, 1000.0) == FEWEST_ROUNDS
    assert FEWEST_ROUNDS < rounds_of(cells, 250.0) < MOST_ROUNDS


def test_the_estimate_adds_opening_and_every_round_of_every_cell() -> None:
    cells = (Cell(1, 1), Cell(1, 2))
    opening = 2 * 0.5 + 3 * (0.1 + 0.2)
    assert estimate_s(cells, 100.0, open_s=0.5) == pytest.approx(opening + 12 * (0.1 + 0.2))
    assert estimate_s(cells, 100.0, open_s=0.5, interleaved=False) == pytest.approx(3 * opening + 12 * (0.1 + 0.2))


def test_a_cell_tells_itself_in_words() -> None:
    assert [str(Cell(1, 8)), str(Cell(2, 1))] == ["1 thread, batch 8", "2 threads, batch 1"]


@pytest.mark.parametrize(("cores", "tried"), [(1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))])
def test_the_usual_threads_double_up_to_all_processors(cores: int, tried: tuple[int, ...]) -> None:
    assert usual_threads(cores) == tried
