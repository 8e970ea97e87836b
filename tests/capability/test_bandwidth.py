"""Bandwidth is measured at working sets up to the last-level cache and beyond it; no speed is asserted."""

from __future__ import annotations

import pytest

from core.capability import bandwidth
from core.capability.bandwidth import measure_bandwidth
from core.progress import Silent

MIB = 2**20


@pytest.mark.parametrize("threads", [1, 2])
def test_working_sets_double_up_to_the_cache_and_the_memory_is_beyond_it(threads: int) -> None:
    found = measure_bandwidth({"L1": MIB // 32, "L2": MIB}, threads, Silent())
    assert [cache.working_set_bytes for cache in found.caches] == [MIB // 4, MIB // 2]
    assert all(cache.gbytes_per_s > 0 for cache in found.caches)
    assert found.memory > 0
    assert found.how.endswith("4 MiB in all")


def test_without_room_for_arrays_beyond_the_cache_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "_room", lambda: MIB)
    found = measure_bandwidth({"L3": 2 * MIB}, 1, Silent())
    assert "rather too fast" in found.how
    assert "1 MiB in all" in found.how


def test_a_rate_is_bytes_over_the_best_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that ticks one second per look, a pass takes one second, however often it is repeated."""
    ticks = iter(range(10**6))
    found = measure_bandwidth({"L1": MIB // 4}, 1, Silent(), clock=lambda: float(next(ticks)))
    assert found.memory == pytest.approx(2 * MIB / 1e9)  # scaling reads and writes all of 1 MiB
