"""A sweep is a job on model and data; how long it takes is known beforehand where the model was profiled."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import RequestError
from core.jobs import queue
from core.jobs.outcome import finish
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.known import known_besides
from core.tasks.params import Subject
from core.tasks.sweep import expected_s, known_sample_ms, read_cells, read_limit, sweep

GRID = {"sweep_threads": [1], "sweep_batches": [1, 4]}


@pytest.mark.xdist_group("timing")
def test_a_model_is_swept_on_its_data(store: Workspace, network: dict[str, Any]) -> None:
    document = sweep(store, {**network, **GRID, "limit_ms": 1e4}, Silent())
    assert [(cell["threads"], cell["batch"]) for cell in document["cells"]] == [(1, 1), (1, 4)]
    assert document["sweet_spot"]["batch"] == 4
    assert document["data"]["name"] == "noise"


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"sweep_threads": "2"}, "'sweep_threads' must be a list of whole numbers"),
        ({"sweep_batches": [1.5]}, "'sweep_batches' must be a list of whole numbers"),
        ({"sweep_batches": [0]}, "whole numbers of at least 1"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(params: dict[str, Any], told: str) -> None:
    with pytest.raises(RequestError, match=told):
        read_cells(params)


@pytest.mark.parametrize("limit", [0, -1, True, "5", float("inf")])
def test_a_limit_that_means_nothing_is_refused(limit: Any) -> None:
    with pytest.raises(RequestError, match="latency limit"):
        read_limit({"limit_ms": limit})


def test_what_a_sweep_measured_is_known_to_the_advice(store: Workspace, network: dict[str, Any]) -> None:
    latency = {"median": 2.0, "mean": 2.0, "ci95": [1.9, 2.1], "p95": 2.2, "basis": "wall"}
    cell = {"threads": 1, "batch": 4, "latency_ms": latency, "throughput": 2000.0, "why": None}
    failed = {**cell, "batch": 8, "latency_ms": None, "throughput": None, "why": "it cannot"}
    _done(store, "sweep", network, {"cells": [cell, failed]})
    (known,) = known_besides(store, Subject.read(network)).swept
    assert (known.threads, known.batch, known.mean_ms, known.throughput) == (1, 4, 2.0, 2000.0)
    assert known_besides(store, Subject.read({**network, "data": None})).swept == ()
    assert known_besides(store, Subject.read(network)).offered is None


def _done(store: Workspace, kind: str, params: dict[str, Any], result: dict[str, Any]) -> None:
    job_id = queue.submit(store, kind, params, title=f"{kind} network")
    with store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE jobs SET state = 'running' WHERE id = ?", (job_id,))
    finish(store, job_id, result)


def _profiled(store: Workspace, params: dict[str, Any], mean_ms: float) -> None:
    _done(store, "profile", params, {"wall_ms": {"mean": mean_ms}})


def test_the_last_profile_of_this_model_and_data_tells_how_long_it_takes(
    store: Workspace, network: dict[str, Any]
) -> None:
    assert expected_s(store, {**network, **GRID}) is None
    _profiled(store, {**network, "data": None}, 900.0)
    assert known_sample_ms(store, network) is None
    _profiled(store, {**network, "threads": 2, "batch": 4}, 20.0)
    assert known_sample_ms(store, network) == pytest.approx(10.0)
    short = expected_s(store, {**network, **GRID}) or 0.0
    long = expected_s(store, {**network, "sweep_threads": [1, 2], "sweep_batches": [1, 4, 16]}) or 0.0
    assert 0 < short < long
