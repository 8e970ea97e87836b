"""Help of the Profile page: figures beside each other that seem to contradict are explained."""

from __future__ import annotations

from dashboard.widgets.profile_view import kernel_help


def test_kernels_that_take_longer_than_the_latency_are_explained() -> None:
    told = kernel_help({"kernel_ms": 1.7, "wall_ms": {"mean": 1.16}})
    assert "exceeds the mean latency" in told
    assert "without the profiler" in told


def test_otherwise_there_is_nothing_to_explain() -> None:
    assert "exceeds" not in kernel_help({"kernel_ms": 1.0, "wall_ms": {"mean": 1.16}})
    assert "exceeds" not in kernel_help({"kernel_ms": None, "wall_ms": None})
