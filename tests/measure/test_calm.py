from __future__ import annotations

import time

from core.measure.calm import Timed, keep_calm, time_run


def test_a_run_that_waits_is_disturbed() -> None:
    timed = time_run(lambda: time.sleep(0.02), threads=1)
    assert timed.ns >= 20_000_000
    assert timed.disturbed


def test_absence_says_nothing_where_other_threads_do_the_work() -> None:
    runs = [time_run(lambda: time.sleep(0.002), threads=2) for _ in range(20)]
    assert not all(run.disturbed for run in runs)


def test_undisturbed_runs_are_kept() -> None:
    runs = [Timed(1, False)] * 5 + [Timed(9, True)] * 5
    assert keep_calm(runs, lambda run: run.disturbed) == [Timed(1, False)] * 5


def test_where_hardly_any_is_undisturbed_all_are_kept() -> None:
    runs = [Timed(1, False)] * 5 + [Timed(9, True)] * 95
    assert keep_calm(runs, lambda run: run.disturbed) == runs
    assert len(keep_calm([Timed(1, False)] * 2 + [Timed(9, True)], lambda run: run.disturbed)) == 3
