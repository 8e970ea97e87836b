from __future__ import annotations

import pytest

from core.measure.events import KernelEvent, RunEvents
from core.measure.kernel_times import KernelTimes, typical_times
from core.measure.profiler_cost import ProfilerCost, calibrate
from core.measure.profiler_probe import Probe, ProfilerProbe
from core.runtime.settings import SessionSettings

PROBE = Probe(run_us=8.0, framework_us=0.3, inside_us=2.0, outside_us=2.5)
SHAPES = ((4,), (4,))


def _watched(true_us: list[float], *, inside: float, outside: float, fixed: float = 8.0) -> tuple[KernelTimes, float]:
    """Times as a profiler with that cost records them, and what it cost in all."""
    kernels = tuple(
        KernelEvent(f"k{i}", "Conv", None, us + inside, 0, SHAPES, ((4,),), span_us=us + inside)
        for i, us in enumerate(true_us)
    )
    count = len(true_us)
    wall = sum(true_us) + fixed + 0.3 * count + count * (inside + outside)
    return typical_times([RunEvents(wall, kernels)]), count * (inside + outside)


def test_short_kernels_get_their_true_time_back() -> None:
    true_us = [3.0, 8.0, 20.0, 100.0, 5.0, 12.0]
    times, extra = _watched(true_us, inside=4.0, outside=5.0)
    cost = calibrate(times, extra, PROBE)
    assert cost.inside_us == pytest.approx(4.0, abs=0.01)
    assert cost.outside_us == pytest.approx(5.0, abs=0.01)
    assert [cost.without(kernel) for kernel in times.kernels] == pytest.approx(true_us, abs=0.02)


def test_without_calibration_the_shares_of_short_kernels_would_be_wrong() -> None:
    times, _ = _watched([1.0, 99.0], inside=4.0, outside=5.0)
    raw = times.kernels[0].own_us / times.kernel_us
    assert raw > 0.04


def test_a_container_is_freed_of_what_was_written_down_inside_it() -> None:
    loop = KernelEvent("loop", "Loop", None, 14 + 10 * 4.5 + 4.5, 0, SHAPES, ((4,),), span_us=500)
    inner = [KernelEvent("k", "Exp", "loop", 6.0 + 4.5, 0, SHAPES, ((4,),), span_us=10)] * 10
    kernels = (loop, *inner)
    wall = sum(kernel.own_us for kernel in kernels) + 8.0 + 11 * 0.3 + 5.0
    times = typical_times([RunEvents(wall, kernels)])
    cost = calibrate(times, 11 * 9.0, PROBE)
    own = {kernel.event.name: cost.without(kernel) for kernel in times.kernels}
    assert own["loop"] == pytest.approx(14, abs=3)
    assert own["k"] == pytest.approx(60, abs=3)


def test_a_noisy_difference_moves_the_cost_only_between_its_bounds() -> None:
    times, extra = _watched([5000.0] * 10, inside=4.0, outside=5.0)
    for noise in (-2000.0, 2000.0):
        cost = calibrate(times, extra + noise, PROBE)
        assert 2.25 <= cost.record_us <= 18.0
        assert sum(cost.without(kernel) for kernel in times.kernels) == pytest.approx(times.kernel_us, rel=0.005)


def test_a_kernel_keeps_a_tenth_of_its_time_at_the_least() -> None:
    times, _ = _watched([0.1, 50.0], inside=1.0, outside=1.0)
    assert ProfilerCost(30.0, 30.0).without(times.kernels[0]) == pytest.approx(0.1 * times.kernels[0].own_us)


def test_a_kernel_with_many_tensors_has_a_longer_record() -> None:
    few = KernelEvent("a", "Add", None, 50.0, 0, SHAPES, ((4,),))
    many = KernelEvent("b", "Concat", None, 50.0, 0, SHAPES * 8, ((4,),))
    times = typical_times([RunEvents(120.0, (few, many))])
    cost = ProfilerCost(4.0, 4.0)
    assert cost.without(times.kernels[0]) == pytest.approx(46.0)
    assert cost.without(times.kernels[1]) < 43


def test_nothing_is_taken_off_where_nothing_ran() -> None:
    assert calibrate(typical_times([RunEvents(10.0, ())]), 5.0, PROBE) == ProfilerCost()


def test_the_probe_finds_that_the_profiler_costs_more_than_the_runtime() -> None:
    with ProfilerProbe(SessionSettings()) as opened:
        for _ in range(20):
            opened.sample()
        probe = opened.read()
    assert probe.inside_us > 0
    assert probe.outside_us >= 0
    assert probe.inside_us + probe.outside_us > probe.framework_us
