"""Help of the Profile page: figures beside each other that seem to contradict are explained."""

from __future__ import annotations

from dashboard.widgets.profile_timeline import outside_layers
from dashboard.widgets.profile_view import kernel_help


def test_kernels_that_take_longer_than_the_latency_are_explained() -> None:
    told = kernel_help({"kernel_ms": 1.7, "wall_ms": {"mean": 1.16}})
    assert "exceeds the mean latency" in told
    assert "without the profiler" in told


def test_otherwise_there_is_nothing_to_explain() -> None:
    assert "exceeds" not in kernel_help({"kernel_ms": 1.0, "wall_ms": {"mean": 1.16}})
    assert "exceeds" not in kernel_help({"kernel_ms": None, "wall_ms": None})


def test_time_that_belongs_to_no_layer_is_told_as_a_share_of_the_kernel_time_like_the_advice() -> None:
    told = outside_layers({"kernel_ms": 2.0, "buckets": {"reorder": 0.42, "cast": 0.0, "copy": None}})
    assert "share of the kernel time of 2.00 ms" in told
    assert "layout changes 0.420 ms (21.0 %)" in told
    assert "casts 0 ms," in told
    assert "copies not known" in told
    assert "(" not in outside_layers({"kernel_ms": None, "buckets": {"reorder": 0.42}})
