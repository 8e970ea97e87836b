from __future__ import annotations

import time

import pytest

from core.measure.calm import Timed, keep_calm, settle, time_run


def test_a_run_that_waits_is_disturbed() -> None:
    timed = time_run(lambda: time.sleep(0.02), threads=1)
    assert timed.ns >= 20_000_000
    assert timed.disturbed


def test_absence_says_nothing_where_other_threads_do_the_work() -> None:
    runs = [time_run(lambda: time.sleep(0.002), threads=2) for _ in range(20)]
    assert not all(run.disturbed for run in runs)


def _runs(calm: int, disturbed: int) -> list[Timed]:
    return [Timed(10, 9, False)] * calm + [Timed(500, 12, True)] * disturbed


@pytest.mark.parametrize(
    ("calm", "disturbed", "enough"), [(5, 5, True), (5, 95, False), (20, 980, True), (4, 0, False)]
)
def test_calm_runs_are_kept_where_they_are_enough(calm: int, disturbed: int, enough: bool) -> None:
    kept = keep_calm(_runs(calm, disturbed), lambda run: run.disturbed)
    assert kept == (_runs(calm, 0) if enough else [])


def test_without_peace_the_processor_time_of_all_runs_stands_in() -> None:
    assert settle(_runs(5, 5), threads=1) == ([10] * 5, "wall")
    assert settle(_runs(1, 99), threads=1) == ([9] + [12] * 99, "processor")


def test_processor_time_says_nothing_of_several_threads() -> None:
    assert settle(_runs(1, 99), threads=2) == ([10] + [500] * 99, "wall")
