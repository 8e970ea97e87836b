"""The page Compare as a person meets it: with nothing built, faster, slower, not measured, after a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from streamlit.testing.v1 import AppTest

from core.store.rows import JobRow, JobState
from dashboard import services
from dashboard.layer_views import layer_views
from dashboard.widgets.comparison import layer_line
from tests.dashboard.documents import (
    build_document,
    comparison_document,
    inspect_document,
    profile_document,
    target_document,
)
from tests.dashboard.faked import PAGES, Desk, candidate, run, texts


def test_with_nothing_built_compare_leads_to_mix(table: Callable[..., Desk]) -> None:
    table()
    app = run("compare")
    assert "Nothing to compare yet" in texts(app)
    assert app.button(key="compare.mix").label == "Open Mix"


def test_a_faster_candidate_shows_before_and_after_with_interval_and_verdict(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.candidates = (candidate(build_document(desk.inspection)),)
    app = run("compare")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Latency"] == "2.64 ms → 0.930 ms"
    assert shown["Energy"] == "not readable here"
    told = texts(app)
    assert "2.84x [2.80, 2.88]" in told
    assert "better" in told
    assert "Why it is not faster" not in told


def test_what_an_earlier_job_measured_is_told_as_reused_and_accuracy_on_how_many_samples(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = table()
    document = build_document(desk.inspection)
    document["comparison"]["accuracy"]["samples"] = 50
    document["comparison"]["conditions"]["time"] = "2026-01-05T07:59:00+00:00"
    desk.candidates = (candidate(document),)
    told = texts(run("compare"))
    assert "on 50 holdout samples" in told
    assert "reused" not in told
    row: JobRow = services.job(services.submit_machine())
    later = replace(row, started_at=datetime(2026, 1, 5, 8, 10, tzinfo=UTC))
    monkeypatch.setattr(services, "find_job", lambda _: later)
    assert "measured at 07:59 UTC, reused" in texts(run("compare"))


def test_a_slower_candidate_is_explained(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    desk.candidates = (candidate(build_document(desk.inspection, speedup=0.8)),)
    told = texts(run("compare"))
    assert "Why it is not faster" in told
    assert "became slower" in told


def test_what_does_not_run_as_asked_is_listed_with_its_reason(table: Callable[..., Desk]) -> None:
    desk = table(layers=60)
    desk.candidates = (candidate(build_document(desk.inspection)),)
    app = run("compare")
    assert "Asked for int8 in 26 layers: 24 run so, 2 do not." in texts(app)
    assert len(app.dataframe[0].value) == 2
    app.toggle(key="compare.missed").set_value(False).run()
    assert len(app.dataframe[0].value) == 60


def test_a_candidate_that_was_not_measured_says_so(table: Callable[..., Desk]) -> None:
    desk = table()
    document = {**build_document(desk.inspection, missing=True), "comparison": None, "accuracy": None}
    desk.candidates = (candidate(document),)
    app = run("compare")
    assert "built but not measured" in texts(app)
    assert {metric.label: metric.value for metric in app.metric}["Latency"] == "not known"


def test_a_search_shows_what_it_saw(table: Callable[..., Desk]) -> None:
    desk = table()
    points = [{"latency_ms": 1.0, "sqnr_db": 40.0, "bytes": 1, "accepted": True, "groups": 2}]
    scores = [{"group": "stem/conv", "precision": "int8", "sqnr_db": 50.5}]
    seen = {"front": points, "sensitivity": scores, "evaluations": 18, "why": "13 of 13 groups"}
    desk.candidates = (candidate({**build_document(desk.inspection), **seen}),)
    app = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=30)
    app.session_state["compare.tabs"] = "Search"
    app.run()
    assert not app.exception
    assert "Mixes evaluated: 18" in texts(app)
    alone = run("mix").dataframe[0].value.set_index("Group")["Alone (dB)"]
    assert alone["stem/conv"] == 50.5


def test_a_missed_target_is_said_plainly(table: Callable[..., Desk]) -> None:
    desk = table()
    document = build_document(desk.inspection)
    document["target"] = target_document(met=False)
    desk.candidates = (candidate(document),)
    assert "Target not met: accuracy>=99% · accuracy 97.2 %; needed 98.8 %" in texts(run("compare"))


def test_an_unchanged_model_says_what_was_tried(table: Callable[..., Desk]) -> None:
    desk = table()
    document = {**build_document(desk.inspection, speedup=1.0), "unchanged": True, "why": "Nothing was faster."}
    document["tried"] = comparison_document(speedup=0.9)
    desk.candidates = (candidate(document),)
    told = texts(run("compare"))
    assert "Nothing was faster." in told
    assert "not taken: 0.900x [" in told
    assert "(2.64 ms → 2.93 ms), SQNR 31.4 dB" in told


def test_without_times_of_the_original_no_other_figure_takes_their_place(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.candidates = (candidate(build_document(desk.inspection)),)
    told = texts(run("compare"))
    assert "no profile yet" in told
    assert "measured without it" not in told


def test_the_maps_say_that_their_times_are_those_under_the_profiler(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    desk.candidates = (candidate(build_document(desk.inspection)),)
    assert "the latency above is measured without it" in texts(run("compare"))


def test_a_chosen_layer_has_its_whole_reason_under_the_table(table: Callable[..., Desk]) -> None:
    desk = table(layers=60)
    document = build_document(desk.inspection)
    row = document["layers"][0]
    row.update(op="Reshape", requested="int8", produced="fp32", executed="int8", why="what feeds it stays in fp32")
    desk.candidates = (candidate(document),)
    app = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=30)
    app.session_state["link.layer"] = row["id"]
    app.run()
    assert not app.exception
    assert f"{row['id']}: placed as fp32; the runtime moves the 8-bit codes through it" in texts(app)


def test_a_running_job_is_shown_on_compare(table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    table()
    job_id = services.submit_machine()
    row: JobRow = services.job(job_id)
    monkeypatch.setattr(services, "job_of", lambda _, kind, active=True: row if kind == "build" and active else None)
    assert row.state is JobState.QUEUED
    assert "Probe this machine" in texts(run("compare"))


def test_faster_but_below_the_default_target_says_so_beside_the_verdict_and_in_the_tile(
    table: Callable[..., Desk],
) -> None:
    desk = table()
    document = build_document(desk.inspection, accuracy=False)
    document["data"] = {"name": "d", "synthetic": False, "labels": False}
    desk.candidates = (candidate(document),)
    assert "below the default target" not in texts(run("compare"))
    document["comparison"]["fidelity"]["sqnr_db"] = 21.4
    told = texts(run("compare"))
    assert "Speed: :green-badge[" in told
    assert told.count("below the default target of 25 dB]") == 2
    assert "Fidelity (SQNR): 21.4 dB :orange-badge[" in told


def test_the_times_of_a_chosen_layer_are_in_one_unit() -> None:
    inspection = inspect_document(12)
    views = layer_views(inspection)
    row = {**build_document(inspection)["layers"][0], "why": ""}
    before, after = ([replace(views[0], ms=ms)] for ms in (0.0952, 0.105))
    assert "95.2 µs → 105 µs" in layer_line(row["id"], [row], before, after)
