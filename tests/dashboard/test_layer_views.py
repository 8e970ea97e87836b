"""Layers with their figures: joined by id, and null stays unknown."""

from __future__ import annotations

import pytest

from dashboard.layer_rows import layer_table
from dashboard.layer_views import MEASURES, layer_views, measure
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document, profile_document


def test_figures_are_joined_by_layer_id_whatever_the_order() -> None:
    inspection = inspect_document(30)
    profile = profile_document(inspection)
    shuffled = {**profile, "layers": list(reversed(profile["layers"]))}
    assert layer_views(inspection, shuffled) == layer_views(inspection, profile)


def test_without_a_profile_only_the_structure_is_known() -> None:
    view = layer_views(inspect_document(12))[0]
    assert (view.ms, view.share, view.executes_as) == (None, None, None)
    assert view.macs is not None
    assert measure("macs").of(view) == view.macs


def test_what_is_null_stays_unknown() -> None:
    inspection = inspect_document(30)
    views = layer_views(inspection, profile_document(inspection, missing=1.0))
    assert all(view.ms is None and view.gflops is None for view in views)
    assert all(measure("share").of(view) is None for view in views)


def test_two_operations_count_for_each_multiply_accumulate() -> None:
    inspection = inspect_document(12)
    view = layer_views(inspection, profile_document(inspection))[0]
    assert view.macs is not None
    assert view.ms is not None
    assert view.gflops == pytest.approx(2 * view.macs / (view.ms * 1e-3) / 1e9)


def test_an_unknown_measure_falls_back_to_latency() -> None:
    assert measure("mood").key == "latency"


def test_a_module_path_may_be_a_list_or_a_text() -> None:
    inspection = inspect_document(12)
    inspection["layers"][0]["module"] = "stem"
    inspection["layers"][1]["module"] = None
    first, second, *_ = layer_views(inspection)
    assert (first.module, second.module) == (("stem",), ())


def test_the_structure_is_read_back_into_the_engines_table() -> None:
    inspection = inspect_document(30)
    table = layer_table(inspection)
    assert [layer.id for layer in table] == [row["id"] for row in inspection["layers"]]
    assert table.group("stem/conv").layers == ("stem/conv", "stem/relu")
    assert table.predecessors["stem/relu"] == ("stem/conv",)
    assert table.layer("stem/conv").output_shapes == ((1, 32, 32, 32),)


def test_the_figures_of_the_profile_go_before_those_worked_out_here() -> None:
    inspection = inspect_document(30)
    profile = deep_profile(inspection)
    row = profile["layers"][0]
    row["gflops"], row["intensity"] = 1.5, 2.5
    view = layer_views(inspection, profile)[0]
    assert (view.precision, view.gflops, view.intensity) == (row["precision"], 1.5, 2.5)
    assert view.attained == row["attained"]


def test_intensity_is_two_operations_per_multiply_accumulate_over_the_bytes_moved() -> None:
    inspection = inspect_document(12)
    view = layer_views(inspection, profile_document(inspection))[0]
    assert view.macs
    assert view.moved_bytes
    assert view.intensity == pytest.approx(2 * view.macs / view.moved_bytes)
    assert layer_views(inspection)[0].intensity is None


def test_a_layer_tells_what_is_alive_while_it_runs_and_what_it_holds_at_the_peak() -> None:
    inspection = inspect_document(30)
    profile = deep_profile(inspection)
    views = {view.id: view for view in layer_views(inspection, profile)}
    peak = views[profile["memory"]["peak_at"]]
    assert peak.live_bytes == profile["memory"]["activation_peak_bytes"]
    held = {holder["layer"] for holder in profile["memory"]["holders"]}
    assert {view.id for view in views.values() if view.held_bytes} == held


def test_a_profile_of_an_older_version_has_no_memory_by_step() -> None:
    inspection = inspect_document(12)
    view = layer_views(inspection, {**profile_document(inspection), "memory": None})[0]
    assert (view.live_bytes, view.held_bytes, view.precision, view.attained) == (None, None, None, None)


def test_what_a_map_can_show_before_a_profile_is_marked() -> None:
    view = layer_views(inspect_document(12))[0]
    for known in MEASURES:
        assert (known.of(view) is None) == known.measured, known.key
