"""Titles of the paired maps: what the maps add up to, never the latency of the paired runs."""

from __future__ import annotations

from dashboard.layer_views import layer_views
from dashboard.widgets.comparison import map_titles
from tests.dashboard.documents import build_document, inspect_document, profile_document

INSPECTION = inspect_document(12)
PROFILE = {**profile_document(INSPECTION), "kernel_ms": 1.7}
VIEWS = layer_views(INSPECTION, PROFILE)
DOCUMENT = {**build_document(INSPECTION), "original_profile": PROFILE, "profile": {**PROFILE, "kernel_ms": 0.438}}


def test_the_maps_are_titled_with_the_kernel_times_of_their_own_profiles() -> None:
    assert map_titles(DOCUMENT, VIEWS, VIEWS, "latency") == (
        "Before: time of each layer, 1.70 ms in kernels under the profiler",
        "After: time of each layer, 0.438 ms in kernels under the profiler",
    )


def test_a_map_of_what_runs_has_no_time() -> None:
    assert map_titles(DOCUMENT, VIEWS, VIEWS, "precision")[1] == "After: what runs"


def test_without_a_kernel_time_the_layers_are_added_up() -> None:
    views = layer_views(INSPECTION, {"layers": [{"id": VIEWS[0].id, "ms": 0.5}, {"id": VIEWS[1].id, "ms": 0.25}]})
    title = map_titles({**DOCUMENT, "original_profile": None}, views, None, "precision")[0]
    assert title == "Before: time of each layer, 0.750 ms in kernels under the profiler"
