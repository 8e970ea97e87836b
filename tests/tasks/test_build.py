"""Build makes a candidate that the workspace keeps, with what became of each layer and how it compares."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

from core.errors import RecipeError, TargetError
from core.jobs import queue
from core.jobs.outcome import finish
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.build import build
from tests.tasks.recording import Recording

pytestmark = pytest.mark.usefixtures("unprobed")

INT8_CONV = {"version": 1, "rules": [{"match": "op:Conv", "precision": "int8", "why": "a test"}]}


def test_what_a_killed_job_had_kept_already_is_not_there_twice_when_it_is_resumed(
    store: Workspace, network: dict[str, Any]
) -> None:
    asked = {**network, "recipe": INT8_CONV, "name": "convs", "measure": False}
    killed = queue.submit(store, "build", asked)
    first = build(store, {**asked, "job": killed}, Silent())
    queue.stop(store, killed)  # it ended without its result
    again = build(store, {**asked, "job": queue.resume(store, killed)}, Silent())
    assert [row.id for row in store.candidates()] == [again["candidate"]]
    assert again["file"] == first["file"]
    assert store.files.has(again["file"])


def test_a_build_that_is_run_again_after_its_end_is_a_candidate_of_its_own(
    store: Workspace, network: dict[str, Any]
) -> None:
    asked = {**network, "recipe": INT8_CONV, "name": "convs", "measure": False}
    done = queue.submit(store, "build", asked)
    finish(store, done, build(store, {**asked, "job": done}, Silent()))
    build(store, {**asked, "job": queue.resume(store, done)}, Silent())
    assert len(store.candidates()) == 2


@pytest.mark.xdist_group("timing")
def test_a_candidate_is_built_measured_and_kept(store: Workspace, network: dict[str, Any]) -> None:
    progress = Recording()
    asked = {**network, "recipe": INT8_CONV, "name": "convs", "time_budget_s": 0.3, "target": "sqnr>=1"}
    params = {**asked, "job": queue.submit(store, "build", asked)}
    document = build(store, params, progress)
    layers = {layer["id"]: layer for layer in document["layers"]}
    assert (layers["conv"]["requested"], layers["conv"]["produced"]) == ("int8", "int8")
    assert (layers["head"]["requested"], layers["head"]["produced"]) == ("fp32", "fp32")
    assert document["comparison"]["gate"]["met"] is True
    assert document["fidelity"] == document["comparison"]["fidelity"]
    assert {layer["id"] for layer in document["profile"]["layers"]} == set(layers)
    row = store.candidate(document["candidate"])
    assert (row.name, row.job_id, row.dataset_sha256) == ("convs", params["job"], network["data"])
    assert row.report["layers"] == document["layers"]
    assert row.report["conditions"]["threads"] == 1
    onnx.checker.check_model(onnx.load_from_string(store.files.read(document["file"])))
    starts = [start for _, start, _ in progress.phases]
    assert starts == sorted(starts)
    assert all(0 <= start <= end <= 1 for _, start, end in progress.phases)


def test_unmeasured_it_still_says_how_faithful_it_is(store: Workspace, network: dict[str, Any]) -> None:
    document = build(store, {**network, "recipe": INT8_CONV, "measure": False}, Silent())
    assert document["comparison"] is None
    assert document["profile"] is None
    assert 10 < document["fidelity"]["sqnr_db"] < 200


def test_a_recipe_without_int8_gives_the_original_back(store: Workspace, network: dict[str, Any]) -> None:
    document = build(store, {**network, "recipe": {"version": 1, "rules": []}, "measure": False}, Silent())
    assert {layer["produced"] for layer in document["layers"]} == {"fp32"}
    assert document["fidelity"]["sqnr_db"] == 200
    assert document["conversions"]["count"] == 0


@pytest.mark.parametrize("recipe", [None, [], {"version": 1}, {"version": 1, "rules": [{"match": "layer:no"}]}])
def test_a_recipe_that_cannot_be_used_is_refused(store: Workspace, network: dict[str, Any], recipe: Any) -> None:
    with pytest.raises(RecipeError):
        build(store, {**network, "recipe": recipe, "measure": False}, Silent())


def test_a_target_is_read_before_any_work(store: Workspace, network: dict[str, Any]) -> None:
    with pytest.raises(TargetError):
        build(store, {**network, "recipe": INT8_CONV, "target": "fast"}, Silent())
    assert not store.models()
