"""Run rows: one line per job with its candidate, what came of it in figures, and what the filters take."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.store.workspace import Workspace
from dashboard import services
from dashboard.run_rows import Outcome, RunRow, chosen, outcome_of
from dashboard.run_tables import disk_table, duration, run_table, state_text
from tests.dashboard.runs_made import Made, make_runs


@pytest.fixture
def made(desk: Workspace) -> Made:
    return make_runs(desk)


def rows_by_id() -> dict[str, RunRow]:
    return {row.id: row for row in services.all_runs()}


def test_a_job_and_its_candidate_share_a_line(made: Made) -> None:
    rows = rows_by_id()
    assert set(rows) == {made.better, made.unchanged, made.failed, made.interrupted, made.waiting}
    better = rows[made.better]
    assert better.candidate is not None
    assert (better.candidate.name, better.model, better.data) == ("all int8", "digits-cnn", "digits")


def test_a_candidate_whose_job_is_forgotten_has_a_line_of_its_own(made: Made) -> None:
    services.delete_run(rows_by_id()[made.better], with_candidate=False)
    row = next(row for row in services.all_runs() if row.job is None)
    assert (row.kind, row.state, row.title) == ("candidate", "built", "all int8")
    assert row.outcome == Outcome(2.84, (2.84 * 0.985, 2.84 * 1.015), 31.4, 0.9889 - 0.9917, "better")


def test_the_newest_comes_first(made: Made) -> None:
    assert [row.id for row in services.all_runs()][:2] == [made.waiting, made.interrupted]


def test_an_outcome_is_told_in_figures_and_a_word(made: Made) -> None:
    rows = rows_by_id()
    unchanged, failed = rows[made.unchanged].outcome, rows[made.failed].outcome
    assert (unchanged.ratio, unchanged.verdict, unchanged.note) == (
        1.0,
        "unchanged",
        "no mix was faster than the original",
    )
    assert (failed.verdict, failed.note) == ("", "There is a cycle.")
    assert rows[made.waiting].outcome.note == "Waiting for its turn"


MISSED = {"text": "speedup>=2x", "met": False}


@pytest.mark.parametrize(
    ("parts", "verdict", "note"),
    [
        ({"target": {**MISSED, "value": 1.2345}}, "target missed", "speedup>=2x was not met (1.23)"),
        ({"own_gate": MISSED, "own_verdict": "better"}, "target missed", "speedup>=2x was not met"),
        ({"gate": {**MISSED, "met": True}, "verdict": "better"}, "better", "speedup>=2x met"),
        ({"wall_ms": {"mean": 2.61}}, "", "2.61 ms per run"),
        ({"agrees": False}, "differs", ""),
        ({"own_verdict": "worse", "why": "Latency: 0.80x."}, "worse", "Latency: 0.80x."),
        ({}, "", ""),
    ],
)
def test_a_verdict_follows_from_the_document(parts: dict[str, Any], verdict: str, note: str) -> None:
    found = outcome_of(parts)
    assert (found.verdict, found.note) == (verdict, note)


def test_filters_take_what_has_all_words_and_is_of_the_kind_model_and_state(made: Made) -> None:
    rows = services.all_runs()

    def found(**wanted: Any) -> set[str]:
        return {row.id for row in chosen(rows, **wanted)}

    assert found() == {row.id for row in rows}
    assert found(text="INT8 better") == {made.better}
    assert found(text="digits-cnn cycle") == {made.failed}
    assert found(text="int8 cycle") == set()
    assert found(text=made.waiting[:6]) == {made.waiting}
    assert found(kinds=("profile",)) == {made.interrupted, made.waiting}
    assert found(kinds=("profile",), states=("queued",)) == {made.waiting}
    assert found(model=made.model.sha256) == {row.id for row in rows}
    assert found(model="0" * 64) == set()


def test_states_are_told_by_shape_and_word_and_a_running_one_how_far_it_is(made: Made) -> None:
    rows = rows_by_id()
    assert state_text(rows[made.better]) == "● done"
    assert state_text(rows[made.interrupted]) == "◌ interrupted"
    assert state_text(rows[made.waiting]) == "○ queued"
    job = rows[made.waiting].job
    assert job is not None
    running = replace(job, state=type(job.state)("running"), fraction=0.434)
    assert state_text(replace(rows[made.waiting], job=running, state="running")) == "▸ running 43 %"


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.44, "0.4 s"), (-1, "0.0 s"), (12.2, "12 s"), (59.7, "1:00 min"), (185, "3:05 min"), (3729, "1:02:09 h")],
)
def test_a_duration_has_its_unit(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_the_table_has_a_line_for_each_run(made: Made) -> None:
    table = run_table(services.all_runs())
    line = table.frame.iloc[table.ids.index(made.better)]
    assert (line["What came of it"], line["95 % interval"], line["Kind"]) == ("better", "2.80–2.88x", "build")
    kept = table.frame.iloc[table.ids.index(made.unchanged)]["What came of it"]
    assert kept.startswith("unchanged: ")
    assert list(table.frame.columns)[:5] == ["State", "Title", "Model", "When", "What came of it"]
    assert line["Accuracy (points)"] == pytest.approx(-0.28)


def test_room_on_disk_is_written_with_its_unit_and_sorted_as_a_number(made: Made) -> None:
    use = services.disk_use()
    model = replace(use.models[0], model_bytes=18_500_000)
    table = disk_table(replace(use, models=(model,), shared_bytes=4_700_000))
    files = table.frame["Files"]
    assert (files.iloc[0], files.iloc[-1]) == (18_500_000, -4_700_000)
    written = table.styled.to_string()
    assert "18.5 MB" in written
    assert "-4.70 MB" in written
    assert "–" in written, "what does not apply is a dash"


def test_five_hundred_runs_are_listed_from_what_is_known_without_reading_them_again(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.all_runs()
    monkeypatch.setattr("dashboard.services.runs.job_parts", None)
    assert len(services.all_runs()) == 5


@pytest.mark.parametrize(
    ("parts", "obstacle", "note"),
    [
        (
            {"findings": [{"severity": "error", "message": "Node 'a' is of an unknown domain.", "hint": None}]},
            "cannot run",
            "Node 'a' is of an unknown domain.",
        ),
        ({"missing": ["w.bin"]}, "files missing", "w.bin is missing: give the whole model at once."),
        (
            {"missing": ["a", "b", "c", "d"]},
            "files missing",
            "a, b, c and 1 more are missing: give the whole model at once.",
        ),
        ({"findings": [{"severity": "warning", "message": "Careful.", "hint": None}], "missing": []}, "", ""),
    ],
)
def test_what_cannot_be_used_says_so_though_its_job_is_done(
    made: Made, parts: dict[str, Any], obstacle: str, note: str
) -> None:
    outcome = outcome_of(parts)
    assert (outcome.obstacle, outcome.note) == (obstacle, note)
    row = replace(rows_by_id()[made.better], outcome=outcome)
    assert state_text(row) == (f"△ {obstacle}" if obstacle else "● done")


def test_a_comparison_older_than_its_job_is_told_as_reused(made: Made) -> None:
    job = rows_by_id()[made.better].job
    assert job is not None
    began = replace(job, started_at=datetime(2026, 1, 5, 8, 10, tzinfo=UTC))
    assert outcome_of({"measured": "2026-01-05T07:59:30+00:00"}, row=began).note == "measured at 07:59 UTC, reused"
    assert outcome_of({"measured": "2026-01-05T08:11:00+00:00"}, row=began).note == ""
    assert outcome_of({"measured": "2026-01-05T08:10:00+00:00"}, row=began).note == ""
    assert outcome_of({"measured": "2026-01-04T07:59:30+00:00"}, row=began).note == (
        "measured on 4 Jan 2026 07:59 UTC, reused"
    )
