"""Two profiles beside each other: differences of conditions are told, nothing is normalised, changes are signed."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from dashboard.beside_view import cautions, different_conditions, layer_pairs, pairs, told_layer
from dashboard.layer_tables import beside_table
from dashboard.layer_views import layer_views
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document

INSPECTION = inspect_document(30)


def two(**changed: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    here = deep_profile(INSPECTION)
    there = deepcopy(here)
    there["conditions"].update(changed)
    return here, there


def test_the_same_conditions_differ_in_nothing() -> None:
    here, there = two()
    assert different_conditions(here, there) == []


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("threads", 4, "threads: 1 here, 4 there"),
        ("batch", 8, "samples per run: 1 here, 8 there"),
        ("onnxruntime", "1.33.0", "onnxruntime: 1.32.0 here, 1.33.0 there"),
        ("load_average", 1.9, "load of the machine: 0.21 here, 1.9 there"),
        ("provider", None, "provider: CPUExecutionProvider here, not known there"),
    ],
)
def test_each_difference_is_told_with_both_sides(key: str, value: object, told: str) -> None:
    assert told in different_conditions(*two(**{key: value}))


def test_other_data_and_other_shapes_are_told() -> None:
    here, there = two()
    there["data"] = {**there["data"], "synthetic": True, "shapes": {"x": [1, 3, 64, 64]}}
    assert "data: digits here, synthetic inputs (x 1x3x64x64) there" in different_conditions(here, there)
    there["data"] = {**here["data"], "sha256": "ab"}
    assert any("different samples" in told for told in different_conditions(here, there))


def test_another_batch_is_never_divided_away() -> None:
    here, there = two(batch=8)
    there["wall_ms"]["mean"] = here["wall_ms"]["mean"] * 8
    latency = pairs(here, there)[0]
    assert latency.ratio == pytest.approx(8.0)
    assert any("per run, not per sample" in told for told in cautions(here, there))


def test_figures_of_whole_runs_have_their_change_with_its_sign() -> None:
    here, there = two()
    here["wall_ms"]["mean"], there["wall_ms"]["mean"] = 2.0, 1.5
    there["memory"]["activation_peak_bytes"] = here["memory"]["activation_peak_bytes"] + 2000
    found = {pair.label: pair for pair in pairs(here, there)}
    assert (found["Latency, mean"].here, found["Latency, mean"].there) == ("2.00 ms", "1.50 ms")
    assert found["Latency, mean"].change == "-0.500 ms"
    assert found["Latency, mean"].ratio == 0.75
    assert found["Activations at the peak"].change == "+2.00 KB"


def test_intervals_that_overlap_show_no_difference() -> None:
    here, there = two()
    here["wall_ms"]["ci95"], there["wall_ms"]["ci95"] = [1.9, 2.1], [2.0, 2.2]
    assert "no difference is seen" in pairs(here, there)[0].help
    there["wall_ms"]["ci95"] = [2.2, 2.4]
    assert "do not overlap" in pairs(here, there)[0].help


def test_what_one_run_does_not_know_is_said_so_and_what_neither_knows_left_out() -> None:
    here, there = two()
    there["memory"] = None
    here["gap_ms"] = there["gap_ms"] = None
    found = {pair.label: pair for pair in pairs(here, there)}
    assert found["Whole process"].there == found["Whole process"].change == "not known"
    assert found["Whole process"].ratio is None
    assert "Between kernels" not in found


def test_the_largest_change_comes_first_whichever_way_it_goes() -> None:
    here, there = two()
    rows = {row["id"]: row for row in there["layers"]}
    rows["stem/conv"]["ms"] += 5.0
    rows["head/fc"]["ms"] = 0.0
    rows["stage1/block0/conv1"]["ms"] = None
    views = layer_views(INSPECTION, here), layer_views(INSPECTION, there)
    found = layer_pairs(*views)
    assert found[0].here.id == "stem/conv"
    assert found[0].change_ms == pytest.approx(5.0)
    assert found[1].here.id == "head/fc"
    assert found[1].ratio == 0.0
    assert found[-1].here.id == "stage1/block0/conv1"
    assert found[-1].change_ms is None
    frame = beside_table(found).frame
    assert frame["Change (ms)"].iloc[0] == pytest.approx(5.0)
    assert frame["Change (ms)"].isna().iloc[-1]
    assert beside_table(found).ids[0] == "stem/conv"


def test_the_chosen_layer_is_told_in_both_runs() -> None:
    here, there = (layer_views(INSPECTION, document)[0] for document in two())
    pair = layer_pairs([replace(here, ms=2.0, precision="fp32")], [replace(there, ms=1.0, precision="int8")])[0]
    told = told_layer(pair, "stem/conv")
    assert told == "stem/conv: 2.00 ms here, 1.00 ms there, 0.500x the time; computes in fp32 here, int8 there."
    assert told_layer(None, None).startswith("A click")
    assert "no time" in told_layer(None, "stem/relu")
