"""The page Runs as a person meets it: empty, with results good and bad, resumed, deleted, cleaned."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs import queue
from core.store.workspace import Workspace
from dashboard import services
from dashboard.run_rows import RunRow
from dashboard.widgets.run_actions import file_stem, link_of, page_of
from tests.dashboard.faked import PAGES, press, run, texts
from tests.dashboard.runs_made import Made, make_runs


@pytest.fixture
def made(desk: Workspace) -> Made:
    return make_runs(desk)


def opened(run_id: str | None = None, **session: object) -> AppTest:
    """The page with a run chosen."""
    app = AppTest.from_file(str(PAGES / "runs.py"), default_timeout=30)
    app.session_state["link.run"] = run_id
    for name, value in session.items():
        app.session_state[name.replace("__", ".")] = value
    app.run()
    assert not app.exception, app.exception
    return app


def row(run_id: str) -> RunRow:
    return next(each for each in services.all_runs() if each.id == run_id)


def test_with_nothing_run_the_page_says_how_to_begin(desk: Workspace) -> None:
    assert desk.path.exists()
    app = run("runs")
    assert "Nothing has run yet" in texts(app)
    assert app.button(key="runs.model.open").label == "Open Model"


def test_all_runs_are_in_one_table(made: Made) -> None:
    app = opened()
    assert list(app.dataframe[0].value["Title"])[-1] == "Build all int8"
    assert "5 runs, 1 running or waiting" in texts(app)


def test_filters_leave_what_was_asked_for(made: Made) -> None:
    app = opened()
    app.text_input(key="runs.text").set_value("cycle").run()
    assert list(app.dataframe[0].value["State"]) == ["✕ failed"]
    assert "1 of 5 runs" in texts(app)
    app.text_input(key="runs.text").set_value("nowhere").run()
    assert "take a filter off" in texts(app)


def test_filters_and_tab_outlive_other_tabs_and_are_in_the_link(made: Made) -> None:
    app = opened()
    app.text_input(key="runs.text").set_value("digits-cnn").run()
    app.multiselect(key="runs.kinds").set_value(["profile"]).run()
    app.multiselect(key="runs.states").set_value(["queued"]).run()
    app.selectbox(key="runs.model").set_value(made.model.sha256).run()
    assert len(app.dataframe[0].value) == 1
    app.session_state["link.runs"] = "disk"
    app.run()
    assert not app.text_input
    app.session_state["link.runs"] = None
    app.run()
    assert app.text_input(key="runs.text").value == "digits-cnn"
    assert app.multiselect(key="runs.kinds").value == ["profile"]
    assert len(app.dataframe[0].value) == 1
    told = {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}
    assert told == {
        "search": "digits-cnn",
        "search_kinds": "profile",
        "search_states": "queued",
        "search_model": made.model.sha256[:12],
    }


def test_what_a_link_filters_by_and_this_workspace_does_not_have_is_left_out(made: Made) -> None:
    app = opened(link__search_kinds="profile,unheard", link__search_model="0" * 12, link__runs="nowhere")
    assert app.multiselect(key="runs.kinds").value == ["profile"]
    assert app.selectbox(key="runs.model").value is None
    assert len(app.dataframe[0].value) == 2


def test_what_is_about_to_be_deleted_is_named(made: Made) -> None:
    told = texts(opened(made.failed))
    assert "**inspect · Read digits-cnn · digits-cnn · " in told
    app = opened(made.better)
    assert "**build · Build all int8 · digits-cnn · " in texts(app)
    built = app.checkbox(key=f"run.delete.built.{made.better}").label
    assert built.replace("\\", "") == "Also delete the model that it built: all int8"


def test_why_the_original_stayed_is_told_in_words(made: Made) -> None:
    told = texts(opened(made.unchanged))
    assert "Why nothing was gained" in told
    assert "No mix was faster than the original" in told
    assert "The best mix that was tried and not taken: 0.800x" in told
    assert "2 units computed, 9 reused from earlier work (key a1b2c3)" in told
    assert "AMD EPYC 7B13" in told


def test_an_interrupted_job_shows_its_error_and_its_log(made: Made) -> None:
    app = opened(made.interrupted, **{f"run__log__{made.interrupted}": True})
    assert "ended before the job did" in texts(app)
    assert any("a last word" in block.value for block in app.code)


def test_an_interrupted_job_is_resumed_and_the_new_one_is_shown_with_its_family(made: Made) -> None:
    app = opened(made.interrupted)
    assert app.button(key=f"run.again.{made.interrupted}").label == "Resume"
    press(app, f"run.again.{made.interrupted}")
    newest = services.jobs(limit=1)[0]
    assert (newest.resumes, app.session_state["link.run"]) == (made.interrupted, newest.id)
    assert app.button(key=f"run.family.{made.interrupted}").label == f"{made.interrupted} (interrupted)"
    press(app, f"run.family.{made.interrupted}")
    assert app.session_state["link.run"] == made.interrupted
    assert app.button(key=f"run.family.{newest.id}").label == f"{newest.id} (queued)"


def test_a_waiting_job_is_stopped(made: Made) -> None:
    press(opened(made.waiting), f"run.stop.{made.waiting}")
    assert services.job(made.waiting).state == "stopped"


def test_a_run_is_deleted_and_what_it_built_only_where_that_is_ticked(made: Made, desk: Workspace) -> None:
    app = opened(made.better)
    app.checkbox(key=f"run.delete.built.{made.better}").check().run()
    press(app, f"run.delete.yes.{made.better}")
    assert [each.name for each in desk.candidates()] == ["auto-mix"]
    app = opened(made.unchanged)
    press(app, f"run.delete.yes.{made.unchanged}")
    assert [each.name for each in desk.candidates()] == ["auto-mix"]
    assert {each.id for each in services.jobs()} == {made.failed, made.interrupted, made.waiting}


def test_what_a_job_still_needs_is_not_deleted_and_the_page_says_so(made: Made, desk: Workspace) -> None:
    candidate = row(made.better).candidate
    assert candidate is not None
    queue.submit(desk, "verify", {"candidate": candidate.id}, title="Verify it")
    app = opened(made.better)
    app.checkbox(key=f"run.delete.built.{made.better}").check().run()
    press(app, f"run.delete.yes.{made.better}")
    assert "is needed by the job 'Verify it', which is queued" in "\n".join(str(each.value) for each in app.error)
    assert services.job(made.better).state == "done"


def test_a_link_to_a_run_that_is_gone_says_so(made: Made) -> None:
    assert "names the run 0123, which this workspace does not have" in texts(opened("0123"))


@pytest.mark.parametrize(
    ("which", "page"), [("better", "compare"), ("unchanged", "compare"), ("failed", "model"), ("waiting", "profile")]
)
def test_a_run_opens_on_the_page_that_shows_what_came_of_it(made: Made, which: str, page: str) -> None:
    assert page_of(row(getattr(made, which))) == page


def test_the_link_of_a_run_is_its_address_on_this_server(made: Made) -> None:
    link = urlsplit(link_of(row(made.better), "http://host:8501/compare?model=1"))
    assert (link.scheme, link.netloc, link.path) == ("http", "host:8501", "/runs")
    assert parse_qs(link.query) == {"run": [made.better]}


def test_files_of_a_run_have_a_name_that_every_system_takes(made: Made) -> None:
    assert file_stem(row(made.better)) == "digits-cnn-all-int8"


def test_downloads_are_offered_for_what_there_is(made: Made) -> None:
    app = opened(made.better, **{f"run__download__{made.better}": True})
    labels = {each.proto.label for each in [*app.get("download_button"), *app.get("link_button")]}
    assert {"Download .onnx", "Download bundle", "Download recipe", "Download document"} <= labels


# disk use


def test_disk_use_tells_the_sum_and_what_deleting_a_model_frees(made: Made) -> None:
    app = opened(link__runs="disk")
    assert "in all" in texts(app)
    shown = app.dataframe[0].value
    assert list(shown["Model"]) == ["digits-cnn", "Other"]
    assert shown["In all"].sum() == services.disk_use().total_bytes
    assert app.button(key="runs.disk.unused").disabled


def test_ended_jobs_are_forgotten_by_age(made: Made) -> None:
    app = opened(link__runs="disk")
    app.selectbox(key="runs.disk.age").select("All").run()
    press(app, "runs.disk.forget")
    assert [each.id for each in services.jobs()] == [made.waiting]
    assert "4 jobs forgotten" in texts(app)


# saved mixes


def test_mixes_that_were_never_built_lead_to_the_desk(made: Made, desk: Workspace) -> None:
    built = services.candidate(row(made.better).candidate.id).recipe  # type: ignore[union-attr]
    desk.save_mix(made.model.sha256, "built already", dict(built))
    rule = {"match": "op:MatMul", "precision": "int8", "options": {}, "why": ""}
    desk.save_mix(made.model.sha256, "only products", {"version": 1, "rules": [rule]})
    desk.save_mix(made.model.sha256, "draft", {"version": 1, "rules": [], "pins": {}})
    app = opened(link__runs="mixes")
    assert "1 saved mix was never built" in texts(app)
    assert "only products · digits-cnn" in texts(app)


def test_without_saved_mixes_it_says_what_would_be_there(made: Made) -> None:
    assert "No mix waits to be built" in texts(opened(link__runs="mixes"))
