"""Channels of the desk: share, precision, reason, and what differs from the last candidate."""

from __future__ import annotations

import pytest

from core.recipe.precision import Precision
from core.recipe.resolve import resolve
from dashboard import mixing
from dashboard.group_views import GroupView, built_with, group_views, groups_csv, solo_scores
from dashboard.layer_rows import layer_table
from dashboard.layer_views import layer_views
from dashboard.mixing import Mix
from tests.dashboard.documents import inspect_document, profile_document


def channels(mix: Mix, built: dict[str, str] | None = None, *, missing: float = 0.0) -> dict[str, GroupView]:
    inspection = inspect_document(30)
    table = layer_table(inspection)
    layers = layer_views(inspection, profile_document(inspection, missing=missing))
    plan = resolve(mix.recipe(), table)
    found = group_views(table, layers, plan, pins=mix.pins, built=built)
    assert [view.index for view in found] == sorted(view.index for view in found)
    return {view.id: view for view in found}


def test_a_channel_adds_up_its_layers() -> None:
    inspection = inspect_document(30)
    times = {row["id"]: row["ms"] for row in profile_document(inspection)["layers"]}
    conv = channels(Mix())["stem/conv"]
    assert conv.ops == ("Conv", "Relu")
    assert conv.ms == pytest.approx(times["stem/conv"] + times["stem/relu"])


def test_a_channel_that_was_not_measured_says_nothing() -> None:
    assert channels(Mix(), missing=1.0)["stem/conv"].ms is None


def test_a_follower_takes_the_precision_of_what_feeds_it_and_says_so() -> None:
    add = channels(mixing.set_operator(Mix(), "Conv", Precision.INT8))["stage1/block0/add"]
    assert add.precision is Precision.INT8
    assert "feeds" in add.why


def test_a_refused_request_is_visible() -> None:
    softmax = channels(mixing.set_operator(Mix(), "Softmax", Precision.INT8))["head/softmax"]
    assert softmax.refused
    assert (softmax.asked, softmax.precision) == (Precision.INT8, Precision.FP32)
    assert "no static int8 kernel" in softmax.why


def test_what_differs_from_the_last_candidate_is_marked() -> None:
    mix = mixing.set_groups(Mix(), ["stem/conv"], Precision.INT8, why="x")
    found = channels(mix, {"stem/conv": "fp32", "head/fc": "fp32"})
    assert found["stem/conv"].changed
    assert not found["head/fc"].changed
    assert not found["head/softmax"].changed, "nothing is known of it"


def test_without_a_candidate_nothing_is_marked() -> None:
    mix = mixing.set_operator(Mix(), "Conv", Precision.INT8)
    assert not any(view.changed for view in channels(mix).values())


def test_the_plan_as_a_table_has_every_group_with_its_whole_name() -> None:
    found = channels(mixing.pin(Mix(), {"stem/conv": Precision.FP32}), {"stem/conv": "int8"})
    header, *rows = groups_csv(list(found.values())).splitlines()
    assert header.startswith("group,ops,layers,asked,precision,pinned,built,time_ms")
    assert [row.split(",")[0] for row in rows] == list(found)
    assert any(row.startswith("stem/conv,Conv + Relu,2,fp32,fp32,True,int8,") for row in rows)


def test_pinned_channels_are_marked() -> None:
    found = channels(mixing.pin(Mix(), {"stem/conv": Precision.FP32}))
    assert [view.id for view in found.values() if view.pinned] == ["stem/conv"]


def test_the_plan_of_a_candidate_tells_what_each_group_was_built_with() -> None:
    plan = {"version": 1, "layers": [{"layer": "a", "group": "g", "precision": "int8", "requested": "int8"}]}
    assert built_with(plan) == {"g": "int8"}
    assert built_with(None) is None
    assert built_with({"version": 1, "layers": []}) is None


def test_sensitivities_come_from_the_newest_search_that_measured_any() -> None:
    rows = [{"group": "a", "precision": "int8", "sqnr_db": 30.0}, {"group": "b", "precision": "int8", "sqnr_db": None}]
    assert solo_scores([{"sensitivity": []}, {}, {"sensitivity": rows}, {"sensitivity": rows[:1]}]) == {"a": 30.0}
    assert solo_scores([]) == {}
