from __future__ import annotations

import random

import pytest

from core.measure.events import KernelEvent, RunEvents
from core.measure.kernel_times import KernelTimes, trimmed_mean, typical_times


def _kernel(name: str, us: float, *, container: str | None = None, op_type: str = "Conv") -> KernelEvent:
    return KernelEvent(name, op_type, container, us, 10, (), (), span_us=us)


def _run(wall: float, **kernels: float) -> RunEvents:
    return RunEvents(wall, tuple(_kernel(name, us) for name, us in kernels.items()))


def _own(times: KernelTimes) -> dict[str, float]:
    return {kernel.event.name: kernel.own_us for kernel in times.kernels}


def test_kernels_and_gap_add_up_to_the_median_run_whatever_the_runs_are_like() -> None:
    chance = random.Random(3)
    runs = []
    for _ in range(40):
        mood = chance.choice([1.0, 1.0, 1.6])
        parts = {name: mood * us * chance.lognormvariate(0, 0.2) for name, us in (("a", 500), ("b", 90), ("c", 7))}
        runs.append(_run(sum(parts.values()) + 30 * mood, **parts))
    times = typical_times(runs)
    walls = sorted(run.wall_us for run in runs)
    assert times.run_us == pytest.approx((walls[19] + walls[20]) / 2)
    assert times.kernel_us + times.gap_us == pytest.approx(times.run_us)


def test_one_spike_does_not_shift_a_kernel() -> None:
    runs = [_run(220 + us, a=us, b=100.0) for us in (100, 101, 99, 100, 100, 100, 100, 100, 100, 9000)]
    assert _own(typical_times(runs))["a"] == pytest.approx(100, rel=0.02)


def test_a_slow_mood_of_the_machine_does_not_change_shares() -> None:
    runs = [_run(200 * mood, a=150 * mood, b=40 * mood) for mood in (1, 1, 1, 1.5, 1.5)]
    own = _own(typical_times(runs))
    assert own["a"] == pytest.approx(150)
    assert own["b"] == pytest.approx(40)


def test_kinds_of_runs_count_by_how_often_they_occur() -> None:
    """A rare branch is a tenth of the runs: no trimming may lose it."""
    runs = [*[_run(100.0, a=90.0)] * 18, *[_run(300.0, a=90.0, rare=200.0)] * 2]
    times = typical_times(runs)
    assert _own(times) == {"a": pytest.approx(90.0), "rare": pytest.approx(20.0)}
    assert times.run_us == pytest.approx(120.0)
    assert {kernel.event.name: kernel.executions for kernel in times.kernels} == {"a": 1, "rare": 0.1}


def test_a_kernel_that_runs_several_times_in_a_run_is_one_kernel() -> None:
    run = RunEvents(100.0, (_kernel("loop", 20, op_type="Loop"), *[_kernel("k", 5, container="loop")] * 3))
    times = typical_times([run, run])
    assert _own(times) == {"loop": pytest.approx(20), "k": pytest.approx(15)}
    assert {kernel.event.name: (kernel.executions, kernel.inside) for kernel in times.kernels} == {
        "loop": (1, 3),
        "k": (3, 0),
    }


def test_the_time_from_outside_is_what_all_adds_up_to() -> None:
    times = typical_times([_run(100.0, a=80.0)] * 3, [110.0, 112.0, 111.0])
    assert times.run_us == 111
    assert times.gap_us == pytest.approx(31, abs=0.5)


def test_processor_time_sets_the_level_and_wall_time_the_shares() -> None:
    times = typical_times([_run(100.0, a=80.0)] * 3, [100.0] * 3, [50.0] * 3)
    assert times.run_us == 50
    assert _own(times)["a"] == pytest.approx(40)


def test_a_tenth_at_each_end_is_left_out_of_the_mean() -> None:
    assert trimmed_mean([0.0, *[5.0] * 8, 1000.0]) == 5
    assert trimmed_mean([1.0, 4.0]) == 2.5
