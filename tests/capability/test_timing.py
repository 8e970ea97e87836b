from __future__ import annotations

import pytest

from core.capability.timing import speedup


class Clock:
    """Time passes only while something runs."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


def test_the_ratio_is_time_before_over_time_after() -> None:
    clock = Clock()
    ratio, interval = speedup(lambda: clock.work(0.003), lambda: clock.work(0.001), clock)
    assert ratio == pytest.approx(3.0)
    assert interval == pytest.approx((3.0, 3.0))


def test_the_interval_holds_what_varies() -> None:
    clock, spent = Clock(), iter(lambda: None, 1)
    del spent
    turn = iter(range(10**6))
    ratio, (low, high) = speedup(lambda: clock.work(0.001 * (1 + next(turn) % 3)), lambda: clock.work(0.001), clock)
    assert 1.0 <= low <= ratio <= high <= 3.0
    assert low < high
