"""Optimize keeps what the search found, the original included, and refuses what it cannot use before it searches."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from core.errors import RecipeError, RequestError, TargetError
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.optimize import optimize
from tests.tasks.recording import Recording

pytestmark = [pytest.mark.usefixtures("unprobed"), pytest.mark.xdist_group("timing")]


def test_what_was_found_is_kept(store: Workspace, network: dict[str, Any]) -> None:
    progress = Recording()
    document = optimize(store, {**network, "target": "sqnr>=5", "time_budget_s": 1}, progress)
    row = store.candidate(document["candidate"])
    assert row.file_sha256 == document["file"] == document["sha256"]
    assert row.report["why"] == document["why"]
    assert document["model"] == "network"
    assert document["target"]["met"] is True
    assert (document["speedup"]["ratio"] == 1) if document["unchanged"] else (document["speedup"]["ci95"][0] > 1)


def test_a_target_out_of_reach_leaves_the_original(store: Workspace, network: dict[str, Any]) -> None:
    document = optimize(store, {**network, "target": "sqnr>=199", "time_budget_s": 1}, Silent())
    assert document["unchanged"] is True
    assert document["speedup"]["ratio"] == 1
    assert document["speedup"]["ci95"] == [1, 1]
    assert document["fidelity"]["sqnr_db"] == 200
    assert document["file"] == network["model"]
    assert document["profile"] is None
    assert document["why"]


def test_a_speed_out_of_reach_is_said_to_be_missed_and_nothing_is_claimed(
    store: Workspace, network: dict[str, Any]
) -> None:
    document = optimize(store, {**network, "target": "sqnr>=5, speedup>=1000x", "time_budget_s": 1}, Silent())
    assert document["target"]["met"] is False
    assert "kept speedup" not in document["why"]
    if not document["unchanged"]:
        assert "misses speedup>=1000x" in document["why"]
        assert document["speedup"]["ci95"][0] > 1


def test_everything_pinned_is_the_original(store: Workspace, network: dict[str, Any]) -> None:
    pins = {"conv": "fp32", "head": "fp32"}
    document = optimize(store, {**network, "target": "sqnr>=5", "pins": pins, "time_budget_s": 1}, Silent())
    assert document["unchanged"] is True


@pytest.mark.parametrize(("count", "missing"), [(1, "calibration"), (2, "evaluation")])
def test_too_few_samples_to_search_with_leave_the_original_and_say_so(
    store: Workspace, network: dict[str, Any], count: int, missing: str
) -> None:
    stream = io.BytesIO()
    np.savez(stream, x=np.random.default_rng(2).normal(size=(count, 1, 3, 16, 16)).astype(np.float32))
    data = store.files.put(stream.getvalue(), suffix=".npz")
    document = optimize(store, {**network, "data": data, "time_budget_s": 1}, Silent())
    assert document["unchanged"] is True
    assert document["target"]["met"] is True
    assert f"no {missing} samples" in document["why"]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"pins": {"nowhere": "fp32"}}, RecipeError),
        ({"pins": {"conv": "int9"}}, RecipeError),
        ({"pins": ["conv"]}, RequestError),
        ({"target": "fast"}, TargetError),
        ({"time_budget_s": 0}, RequestError),
    ],
)
def test_what_cannot_be_used_is_refused(
    store: Workspace, network: dict[str, Any], wrong: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        optimize(store, {**network, **wrong}, Silent())
