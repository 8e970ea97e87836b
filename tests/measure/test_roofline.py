"""The arithmetic of the roofline is exact: peaks, bandwidths by working set, ridge points and least times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.measure.limits import Reached, Work, reach
from core.measure.roofline import CacheSpeed, Roofline

KIB = 2**10
HERE = Roofline(
    gflops={"fp32": 100.0, "int8": 400.0},
    gbytes_per_s=10.0,
    caches=(CacheSpeed(256 * KIB, 40.0), CacheSpeed(1024 * KIB, 50.0), CacheSpeed(4096 * KIB, 20.0)),
    threads=2,
    how={"fp32": "MatMul", "memory": "copying"},
    levels={"L2": 1024 * KIB},
    time="2026-01-02T03:04:05+00:00",
    load_average=0.5,
)


@pytest.mark.parametrize(
    ("kib", "gbytes_per_s"),
    [(1, 50.0), (256, 50.0), (257, 50.0), (1024, 50.0), (1025, 20.0), (4096, 20.0), (4097, 10.0), (10**6, 10.0)],
)
def test_bandwidth_is_that_of_the_best_working_set_that_holds_it(kib: int, gbytes_per_s: float) -> None:
    assert HERE.bandwidth(kib * KIB) == gbytes_per_s


def test_the_ridge_is_where_arithmetic_and_memory_take_equally_long() -> None:
    assert HERE.ridge("fp32") == 10.0
    assert HERE.ridge("int8") == 40.0
    assert HERE.ridge("fp32", 2000 * KIB) == 5.0
    assert HERE.ridge("fp64") is None


def test_least_times_follow_from_peak_and_bandwidth() -> None:
    assert HERE.compute_ms(50_000_000, "fp32") == pytest.approx(1.0)
    assert HERE.compute_ms(50_000_000, "int8") == pytest.approx(0.25)
    assert HERE.compute_ms(1, "fp64") is None
    assert HERE.compute_ms(0, None) == 0.0
    assert HERE.memory_ms(1_000_000) == pytest.approx(0.02)


def test_weights_come_from_where_all_weights_fit() -> None:
    assert HERE.memory_ms(1_000_000, weight_bytes=400_000, all_weight_bytes=10**9) == pytest.approx(
        1e3 * (400_000 / 10e9 + 600_000 / 50e9)
    )
    assert HERE.memory_ms(1_000_000, weight_bytes=400_000, all_weight_bytes=400_000) == pytest.approx(0.02)


def test_it_survives_its_document() -> None:
    assert Roofline.from_dict(HERE.to_dict()) == HERE


def test_the_best_of_two_measurements_counts() -> None:
    later = Roofline(
        {"fp32": 120.0, "int8": 300.0, "fp16": 7.0},
        9.0,
        (CacheSpeed(256 * KIB, 60.0), CacheSpeed(1024 * KIB, 5.0)),
        how={"fp32": "Conv", "int8": "Conv", "memory": "adding"},
        time="later",
        load_average=2.0,
    )
    best = later.best_of(HERE)
    assert best.gflops == {"fp32": 120.0, "int8": 400.0, "fp16": 7.0}
    assert best.gbytes_per_s == 10.0
    assert [cache.gbytes_per_s for cache in best.caches] == [60.0, 50.0, 20.0]
    assert (best.how["fp32"], best.how["memory"]) == ("Conv", "copying")
    assert (best.time, best.load_average) == ("later", 0.5)
    assert HERE.best_of(HERE) == HERE


def test_a_layer_above_the_ridge_is_bound_by_compute_below_it_by_memory() -> None:
    above = reach(Work(2.0, 1, macs=50_000_000, moved_bytes=9_000_000, precision="fp32"), HERE)
    assert (above.intensity, above.gflops, above.attained) == pytest.approx((100 / 9, 50.0, 0.5))
    assert above.limited_by == "compute"
    below = reach(Work(2.0, 1, macs=50_000_000, moved_bytes=12_000_000, precision="fp32"), HERE)
    assert below.limited_by == "memory"
    assert below.attained == pytest.approx(0.6)


def test_the_ridge_is_that_of_the_executed_precision() -> None:
    work = Work(2.0, 1, macs=50_000_000, moved_bytes=9_000_000, precision="fp32")
    assert reach(work, HERE).limited_by == "compute"
    assert reach(replace(work, precision="int8"), HERE).limited_by == "memory"


def test_without_arithmetic_only_the_bytes_count() -> None:
    moved = reach(Work(0.04, 1, macs=0, moved_bytes=1_000_000), HERE)
    assert (moved.intensity, moved.gflops, moved.attained) == pytest.approx((0.0, 0.0, 0.5))
    assert moved.limited_by == "memory"


def test_executions_of_a_loop_each_find_their_data_in_its_cache() -> None:
    once = reach(Work(0.04, 1, macs=0, moved_bytes=1_000_000), HERE)
    often = reach(Work(0.4, 10, macs=0, moved_bytes=10_000_000), HERE)
    assert often.attained == pytest.approx(once.attained)


def test_what_beat_the_probe_counts_as_all_that_is_attainable() -> None:
    assert reach(Work(0.011, 1, macs=50_000_000, moved_bytes=1000, precision="fp32"), HERE).attained == 1.0


def test_short_kernels_are_overhead_and_still_have_their_share() -> None:
    short = reach(Work(0.005, 1, macs=0, moved_bytes=100_000), HERE)
    assert short.limited_by == "overhead"
    assert short.attained == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (Work(0.0, 0, 5, 5, "fp32"), Reached()),
        (Work(1.0, 1, None, 5, "fp32"), Reached()),
        (Work(1.0, 1, 500_000, None, "fp32"), Reached(gflops=1.0)),
        (Work(1.0, 1, 500_000, 1_000_000, "fp64"), Reached(intensity=1.0, gflops=1.0, limited_by="memory")),
    ],
)
def test_what_is_not_known_stays_unknown(work: Work, expected: Reached) -> None:
    assert reach(work, HERE) == expected


def test_without_a_roofline_the_intensity_alone_decides() -> None:
    known = reach(Work(1.0, 1, macs=40_000, moved_bytes=10_000, precision="fp32"), None)
    assert known == Reached(intensity=8.0, gflops=0.08, attained=None, limited_by="compute")
