"""Peaks are the best rates that the runtime reaches, per precision of the kernel that really ran."""

from __future__ import annotations

import pytest

from core.capability import peaks
from core.capability.operators import product
from core.capability.peaks import Large, measure_peaks
from core.progress import Silent
from core.runtime.settings import SessionSettings

SMALL = Large(product("MatMul", (16,), 32, 8), 16 * 32 * 8)


@pytest.fixture
def one_small_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peaks, "LARGE", (SMALL,))
    monkeypatch.setattr(peaks, "_BUDGET_S", 0.0)


@pytest.mark.usefixtures("one_small_product")
def test_each_executed_precision_has_a_peak_and_what_reached_it() -> None:
    found = measure_peaks(SessionSettings(), Silent(), saturates=True)
    assert found["fp32"].gflops > 0
    assert found["fp32"].how == "MatMul 16x32 by 32x8"
    assert set(found) <= {"fp32", "int8", "fp16", "bf16"}


@pytest.mark.usefixtures("one_small_product")
def test_a_rate_counts_two_operations_per_multiply_accumulate() -> None:
    ticks = iter(range(10**6))
    found = measure_peaks(SessionSettings(), Silent(), saturates=True, clock=lambda: float(next(ticks)))
    assert found["fp32"].gflops == pytest.approx(2 * 16 * 32 * 8 / 1e9)
