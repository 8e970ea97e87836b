"""Work that was finished is not done twice: by the next job, by a resumed one, and not at all where that is asked."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import update

from core.errors import DataError, RequestError
from core.jobs import queue
from core.measure.latency import PairedLatency
from core.progress import Silent
from core.search.timing import Timings
from core.store.tables import CACHE, JOBS
from core.store.workspace import Workspace
from core.tasks.build import build
from core.tasks.optimize import optimize
from core.tasks.units import work_id
from tests.tasks.recording import Recording

pytestmark = [pytest.mark.usefixtures("unprobed", "untimed")]

ASKED: dict[str, Any] = {"target": "sqnr>=5", "time_budget_s": 1}
INT8 = {"version": 1, "rules": [{"match": "*", "precision": "int8"}]}

_LATENCY = PairedLatency(
    ratio=1.5, ci95=(1.4, 1.6), ratio_bound=1.4, before_ms=3.0, after_ms=2.0, after_bound_ms=2.1,
    before_p95_ms=3.3, after_p95_ms=2.2, batch=1, pairs=40, disturbed=0, samples=8, before_memory_bytes=10,
    after_memory_bytes=9, noise_ci95=(0.99, 1.01),
)  # fmt: skip


@pytest.fixture
def untimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is timed for long: the last comparison and the profiles say what they are told."""
    ticks = itertools.count()

    class Profiled:
        def knowing(self, known: object) -> Profiled:
            return self

        def to_dict(self) -> dict[str, Any]:
            buckets = dict.fromkeys(("reorder", "quantize", "cast", "copy", "unattributed"), 0.0)
            none: dict[str, Any] = {"layers": [], "advice": []}
            return {"wall_ms": {"mean": float(next(ticks))}, "kernel_ms": 1.0, "buckets": buckets, **none}

    monkeypatch.setattr("core.measure.compare.measure_pair", lambda *_, **__: _LATENCY)
    monkeypatch.setattr("core.search.optimize.quick_timings", _twice_as_fast)
    monkeypatch.setattr("core.tasks.candidate.profile_model", lambda *_, **__: Profiled())


def _twice_as_fast(original: object, candidates: Mapping[str, object], *_: object, **__: object) -> Timings:
    return Timings({"": (2e6,) * 9, **dict.fromkeys(candidates, (1e6,) * 9)})


def _ended(store: Workspace, job_id: str) -> str:
    with store.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(state="interrupted"))
    return job_id


def test_a_second_search_computes_nothing_and_answers_the_same(store: Workspace, network: dict[str, Any]) -> None:
    first = optimize(store, {**network, **ASKED}, Silent())
    progress = Recording()
    second = optimize(store, {**network, **ASKED}, progress)
    assert first["units"]["computed"] > 3
    assert second["units"] == {**first["units"], "computed": 0, "reused": first["units"]["computed"]}
    for part in ("file", "recipe", "plan", "fidelity", "sensitivity", "evaluations", "front", "profile", "conditions"):
        assert second[part] == first[part]
    told = [value for kind, value in progress.partials if kind == "units"]
    assert told[0] == {**second["units"], "reused": 0}
    assert told[-1] == second["units"]


def test_damaged_units_are_computed_anew(store: Workspace, network: dict[str, Any]) -> None:
    first = optimize(store, {**network, **ASKED}, Silent())
    with store.database.writing() as connection:
        connection.execute(update(CACHE).where(CACHE.c.key.like("unit/%")).values(value={"value": {}, "check": "?"}))
    second = optimize(store, {**network, **ASKED}, Silent())
    assert second["units"]["reused"] == 0
    assert second["sensitivity"] == first["sensitivity"]


def test_fresh_work_uses_only_what_it_has_done_itself(store: Workspace, network: dict[str, Any]) -> None:
    optimize(store, {**network, **ASKED}, Silent())
    asked = {**network, **ASKED, "fresh": True}
    job_id = _ended(store, queue.submit(store, "optimize", asked))
    fresh = optimize(store, {**asked, "job": job_id}, Silent())
    assert fresh["units"]["reused"] == 0
    resumed = optimize(store, {**asked, "job": queue.resume(store, job_id)}, Silent())
    assert resumed["units"]["computed"] == 0


def test_work_is_named_by_the_first_of_the_jobs_that_resume_each_other(store: Workspace) -> None:
    first = _ended(store, queue.submit(store, "optimize", {}))
    second = _ended(store, queue.resume(store, first))
    third = queue.resume(store, second)
    assert {work_id(store, {"job": job_id}) for job_id in (first, second, third)} == {first}
    assert work_id(store, {}) != work_id(store, {})


def test_another_seed_or_other_outputs_are_other_work(store: Workspace, network: dict[str, Any]) -> None:
    first = optimize(store, {**network, **ASKED}, Silent())
    other = optimize(store, {**network, **ASKED, "seed": 1}, Silent())
    assert other["units"]["key"] != first["units"]["key"]
    weighted = optimize(store, {**network, **ASKED, "outputs": {"y": 2}}, Silent())
    assert weighted["units"]["key"] == first["units"]["key"]
    assert weighted["units"]["computed"] > 0
    quieter = {score["group"]: score["sqnr_db"] for score in first["sensitivity"]}
    for score in weighted["sensitivity"]:
        assert score["sqnr_db"] == pytest.approx(quieter[score["group"]] - 3.0103, abs=1e-3)


def test_a_build_measures_anew_but_calibrates_once(store: Workspace, network: dict[str, Any]) -> None:
    asked = {**network, "recipe": INT8, "time_budget_s": 0.3}
    job_id = _ended(store, queue.submit(store, "build", asked))
    first = build(store, {**asked, "job": job_id}, Silent())
    second = build(store, asked, Silent())
    assert second["units"]["reused"] == 2, "the ranges, and what was read back"
    assert second["file"] == first["file"]
    resumed = build(store, {**asked, "job": queue.resume(store, job_id)}, Silent())
    assert second["profile"] != first["profile"]
    assert resumed["units"]["computed"] == 0
    assert resumed["profile"] == first["profile"]


def test_chosen_outputs_must_exist_and_have_a_weight(store: Workspace, network: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="The model has no output 'Y'"):
        build(store, {**network, "recipe": INT8, "outputs": {"Y": 1}}, Silent())
    for wrong in ({"y": 0}, {"y": -1}, {"y": "much"}, {"y": True}, ["y"]):
        with pytest.raises(RequestError):
            build(store, {**network, "recipe": INT8, "outputs": wrong}, Silent())


def test_a_comparison_on_a_busy_machine_is_not_kept(
    store: Workspace, network: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = optimize(store, {**network, **ASKED}, Silent())
    spoilt = dataclasses.replace(_LATENCY, disturbed_kept=True)
    monkeypatch.setattr("core.measure.compare.measure_pair", lambda *_, **__: spoilt)
    busy = optimize(store, {**network, **ASKED, "batch": 2}, Silent())
    assert not calm["unchanged"]
    assert busy["unchanged"]
    assert "too busy" in busy["why"]
    monkeypatch.setattr("core.measure.compare.measure_pair", lambda *_, **__: _LATENCY)
    assert not optimize(store, {**network, **ASKED, "batch": 2}, Silent())["unchanged"]
