"""The page Compare with several candidates: filter, baseline, what differs, and measuring one against another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.store.rows import CandidateRow
from core.store.workspace import Workspace
from dashboard import services, state
from dashboard.candidate_tables import candidate_table
from dashboard.candidates_view import compare_all, facts_of
from dashboard.widgets import candidates
from tests.dashboard.documents import build_document, comparison_document
from tests.dashboard.faked import DATA, MODEL, PAGES, Desk, candidate, press, run, texts


def several(desk: Desk, **speedups: float) -> tuple[CandidateRow, ...]:
    """Candidates by name, as measured as things are on the desk."""
    rows: list[CandidateRow] = []
    for name, speedup in speedups.items():
        document = {**build_document(desk.inspection, speedup=speedup), "name": name}
        document["data"] = {"sha256": DATA.sha256, "name": DATA.name, "synthetic": False}
        here = {**services.conditions().to_dict(), "threads": 1, "batch": 1}
        document["comparison"] = {**document["comparison"], "conditions": here}
        rows.append(replace(candidate(document), id=f"id-{name}", name=name, file_sha256=f"{len(rows):064d}"))
    return tuple(rows)


@pytest.fixture
def two(table: Callable[..., Desk]) -> Desk:
    desk = table()
    desk.candidates = several(desk, fast=2.0, slow=0.5)
    return desk


def pinned(name: str | None = None) -> AppTest:
    app = AppTest.from_file(str(PAGES / "compare.py"), default_timeout=30)
    app.session_state["link.baseline"] = name
    app.run()
    assert not app.exception, app.exception
    return app


def test_one_candidate_needs_no_table(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.candidates = several(desk, fast=2.0)
    assert "Show only what differs" not in [toggle.label for toggle in run("compare").toggle]


def test_all_are_held_against_the_original(two: Desk) -> None:
    app = run("compare")
    frame = app.dataframe[0].value
    assert list(frame["Candidate"]) == ["Original (baseline)", "fast", "slow"]
    assert frame["Against the baseline"].str.endswith(("baseline", "▲ better", "▼ worse")).all()
    assert "Held against the original" in texts(app)
    assert "click a candidate's row to see it below" in texts(app)
    app.toggle(key="compare.differs").set_value(False).run()
    assert len(app.dataframe[0].value.columns) > len(frame.columns)


def test_names_can_be_filtered(two: Desk) -> None:
    app = run("compare")
    app.text_input(key="compare.filter").set_value("FAS").run()
    assert list(app.dataframe[0].value["Candidate"]) == ["Original (baseline)", "fast"]
    assert "that is in the name of 1 of 2" in texts(app)


def test_choosing_a_baseline_pins_it_to_the_model(two: Desk, desk: Workspace) -> None:
    desk.add_model(MODEL.name, MODEL.sha256, 1)
    for row in two.candidates:
        desk.add_candidate(row)
    app = run("compare")
    app.selectbox(key="compare.baseline").set_value("id-slow").run()
    assert not app.exception, app.exception
    assert desk.baseline(MODEL.sha256) == "id-slow"
    assert app.dataframe[0].value["Candidate"].iloc[0] == "slow (baseline)"
    app.selectbox(key="compare.baseline").set_value("").run()
    assert desk.baseline(MODEL.sha256) is None


def test_a_pair_that_was_not_measured_offers_to_be(two: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(services, "submit_compare", lambda on, first, second: asked.append((first.name, second.name)))
    app = pinned("id-slow")
    told = texts(app)
    assert "fast against the baseline slow" in told.replace("*", "")
    assert "Only a measurement in pairs tells" in told
    assert "≈ derived" in " ".join(app.dataframe[0].value["Against the baseline"])
    press(app, "compare.pair")
    assert asked == [("slow", "fast")]


def test_a_pair_that_was_measured_shows_what_it_found(two: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"id-fast": comparison_document(speedup=3.0)}
    monkeypatch.setattr(services, "pairs", lambda on, first, known: found)
    app = pinned("id-slow")
    assert "Measured in pairs: 3.00x" in texts(app)
    assert "compare.pair" not in [button.key for button in app.button]


def test_the_job_of_a_pair_names_both_files(two: Desk, desk: Workspace) -> None:
    on = services.subject()
    assert on is not None
    slow, fast = two.candidates[1], two.candidates[0]
    job = services.job(services.submit_compare(on, slow, fast))
    assert (job.params["baseline_file"], job.params["candidate_file"]) == (slow.file_sha256, fast.file_sha256)
    assert job.title == "Compare slow with fast"
    waiting = services.compare_job(on, slow, fast)
    assert waiting is not None
    assert waiting.id == job.id
    assert services.compare_job(on, fast, slow) is None
    assert services.pairs(on, slow, two.candidates) == {}


def test_candidates_measured_under_other_conditions_are_marked(two: Desk) -> None:
    apart = two.candidates[1]
    other = {**apart.report["comparison"]["conditions"], "threads": 2}
    comparison = {**apart.report["comparison"], "conditions": other}
    two.candidates = (two.candidates[0], replace(apart, report={**apart.report, "comparison": comparison}))
    app = run("compare")
    assert "Not measured as things are on the desk: 'slow'" in texts(app)
    assert list(app.dataframe[0].value["Other conditions"]) == ["", "", "2 threads"]
    told = texts(pinned("id-slow"))
    assert "The two were measured under different conditions: 1 thread" in told


def test_an_unknown_baseline_of_a_link_is_told(two: Desk) -> None:
    app = pinned("nowhere")
    assert "This link names the baseline 'nowhere'" in texts(app)
    assert "Held against the original" in texts(app)


def test_a_click_that_chooses_no_candidate_leaves_tick_and_contents_together(
    two: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", session)
    monkeypatch.setattr(st, "query_params", {})
    table = candidate_table(
        compare_all(two.candidates, None, facts_of(two.candidates[0].report), {}), only_differences=True
    ).table
    assert table.ids == ("", "id-fast", "id-slow")

    def click(*rows: int) -> int:
        before = state.NO_CANDIDATE_CHOSEN.get()
        session["compare.all"] = SimpleNamespace(selection=SimpleNamespace(rows=list(rows)))
        candidates._choose_row("compare.all", table)
        return state.NO_CANDIDATE_CHOSEN.get() - before

    assert (click(2), state.CANDIDATE.get()) == (0, "id-slow")
    assert (click(0), state.CANDIDATE.get()) == (1, "id-slow"), "on the original: the table is drawn anew"
    assert (click(), state.CANDIDATE.get()) == (1, "id-slow"), "on the ticked row: it keeps its tick"
    assert (click(1), state.CANDIDATE.get()) == (0, "id-fast")


def test_the_pinned_candidate_itself_is_told_to_be_held_against_the_original(two: Desk) -> None:
    told = texts(pinned("id-fast")).replace("*", "")
    assert "fast against the original" in told
    assert "fast against the baseline" not in told
    assert "slow against the original" not in told
