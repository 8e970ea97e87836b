"""A profile that did not finish: what it found is shown, with the reason, never in place of a finished one unasked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs import queue
from core.store.rows import JobRow, JobState, now
from core.store.tables import PARTIALS
from core.store.workspace import Workspace
from dashboard import services
from dashboard.services.profiles import unfinished_profile
from dashboard.widgets.profile_partial import why
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import profile_document
from tests.dashboard.faked import DATA, MODEL, PAGES, Desk, run, texts


def job(state: JobState, message: str | None = None) -> JobRow:
    row = services.job(queue.submit(services.workspace(), "profile", {"model": MODEL.sha256}))
    error = None if message is None else {"kind": "run", "message": message, "hint": None, "layer": None}
    changed = {"state": state, "error": error, "finished_at": now()}
    return type(row)(**{name: changed.get(name, getattr(row, name)) for name in row.__slots__})


@pytest.mark.parametrize(
    ("state", "message", "told"),
    [
        (JobState.STOPPED, "Somebody pressed Stop.", "it was stopped."),
        (JobState.FAILED, "the layer 'fc' takes too much memory.", "it failed. Not known: the first run"),
        (JobState.CRASHED, None, "its process crashed."),
        (JobState.RUNNING, None, "it still runs."),
    ],
)
def test_the_sentence_says_how_it_ended_and_what_is_missing_and_not_again_the_error(
    desk: Workspace, state: JobState, message: str | None, told: str
) -> None:
    assert desk.path.exists()
    sentence = why(job(state, message), {"memory": {}, "wall_ms": {"mean": 1.0}})
    assert told in sentence
    assert sentence.endswith("Not known: the first run, times of layers, the timeline, advice.")


def test_times_of_layers_count_as_known_before_they_are_added_up(desk: Workspace) -> None:
    assert desk.path.exists()
    known = {"layers": [{"id": "a", "ms": 1.0}], "memory": {}, "cold": {}, "wall_ms": {}, "timeline": {}, "advice": []}
    assert "Not known" not in why(job(JobState.STOPPED), known)


def test_pieces_of_a_job_are_put_together_the_later_ones_on_top(desk: Workspace) -> None:
    on = services.Subject(model=MODEL, data=DATA)
    assert unfinished_profile(on) is None
    job_id = queue.submit(desk, "profile", on.params)
    assert unfinished_profile(on) is None, "it has found nothing yet"
    pieces = [{"memory": {"steps": []}, "layers": []}, {"layers": [{"id": "a"}]}]
    rows = [
        {"job_id": job_id, "seq": seq, "kind": "profile", "value": piece, "created_at": now()}
        for seq, piece in enumerate(pieces, start=1)
    ]
    with desk.database.writing() as connection:
        connection.execute(PARTIALS.insert(), rows)
    found = unfinished_profile(on)
    assert found is not None
    assert found[0].id == job_id
    assert found[1] == {"memory": {"steps": []}, "layers": [{"id": "a"}]}


def partial_desk(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, *, finished: bool
) -> tuple[Desk, dict[str, Any]]:
    desk = table()
    whole = deep_profile(desk.inspection)
    known = {key: whole[key] for key in ("layers", "memory", "wall_ms")}
    desk.profile = profile_document(desk.inspection) if finished else None
    row = job(JobState.STOPPED)
    monkeypatch.setattr(services, "unfinished_profile", lambda _: (row, known))
    return desk, known


def test_without_a_finished_profile_what_was_found_is_shown(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    partial_desk(table, monkeypatch, finished=False)
    app = run("profile")
    assert "This profile is incomplete: it was stopped." in texts(app)
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Latency, mean"].endswith(" ms")
    assert shown["In kernels"] == "not known"
    assert app.dataframe[0].value["Time (ms)"].notna().any()


def test_a_finished_profile_stays_until_the_unfinished_one_is_asked_for(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    partial_desk(table, monkeypatch, finished=True)
    app = run("profile")
    assert "incomplete" not in texts(app)
    toggle = next(each for each in app.toggle if str(each.key).startswith("profile.partial."))
    app = toggle.set_value(True).run()
    assert not app.exception
    assert "This profile is incomplete: it was stopped." in texts(app)


@pytest.mark.parametrize(
    "tab", ["Modules", "Timeline", "Roofline", "Memory", "Shapes", "Advice 0", "Beside another run"]
)
def test_every_tab_bears_what_is_not_known(
    tab: str, table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = table()
    structure = [
        {"id": row["id"], "group": row["group"], "op": row["op"], "macs": None} for row in desk.inspection["layers"]
    ]
    monkeypatch.setattr(services, "unfinished_profile", lambda _: (job(JobState.CRASHED), {"layers": structure}))
    app = AppTest.from_file(str(PAGES / "profile.py"), default_timeout=30)
    app.session_state["profile.tabs"] = tab
    app.run()
    assert not app.exception, app.exception
