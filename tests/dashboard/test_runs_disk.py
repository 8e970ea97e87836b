"""Opened files on the page Runs: what the jobs that opened them are called, and what deleting frees, now or later."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs import queue
from core.jobs.outcome import finish
from core.store.rows import ModelRow, now
from core.store.workspace import Workspace
from dashboard import services
from dashboard.widgets.runs_disk import held_line, jobs_line
from tests.dashboard.faked import PAGES, press, texts

CONTENT = b"a model and its pictures"


@pytest.fixture
def opened(desk: Workspace) -> tuple[ModelRow, str]:
    """A model and the job that opened it together with pictures."""
    model = desk.add_model("net", desk.files.put(CONTENT), len(CONTENT), "upload")
    pictures = desk.files.put(b"pictures", suffix=".zip")
    files = [{"name": "net.onnx", "sha256": model.sha256}, {"name": "photos.zip", "sha256": pictures}]
    job_id = queue.submit(desk, "bring", {"files": files}, title="Open net.onnx")
    data = {"sha256": pictures, "name": "photos.zip", "kind": "images"}
    assert finish(desk, job_id, {"model": model.sha256, "name": "net", "data": data, "missing": [], "tokenizer": None})
    return model, job_id


def page(**session: object) -> AppTest:
    app = AppTest.from_file(str(PAGES / "runs.py"), default_timeout=30)
    for name, value in session.items():
        app.session_state[name.replace("__", ".")] = value
    app.run()
    assert not app.exception, app.exception
    return app


def test_a_job_that_opened_a_model_is_called_so_and_belongs_to_the_model(opened: tuple[ModelRow, str]) -> None:
    model, job_id = opened
    (row,) = services.all_runs()
    assert (row.id, row.kind, row.model, row.model_sha256) == (job_id, "open", "net", model.sha256)
    assert row.data == ""  # it ran nothing, on synthetic data neither
    app = page(link__run=job_id)
    assert list(app.dataframe[0].value["Kind"]) == ["open"]
    assert app.multiselect(key="runs.kinds").options == ["open"]


def test_a_family_begins_with_a_step_and_not_with_an_arrow(desk: Workspace) -> None:
    queue.stop(desk, job_id := services.submit_machine())
    told = [str(each.value).replace("\\", "") for each in page(link__run=job_id).markdown]
    assert ":material/play_circle: this job (stopped)" in told
    assert not any("→" in each for each in told)


def test_deleting_a_model_frees_at_once_all_that_was_opened_with_it(
    desk: Workspace, opened: tuple[ModelRow, str]
) -> None:
    use = services.disk_use()
    assert use.models[0].freed_bytes == len(CONTENT) + len(b"pictures")
    assert services.delete_model(opened[0].sha256) == use.models[0].freed_bytes
    assert list(desk.files.stored()) == []
    assert queue.jobs(desk) == ()


def test_what_is_held_back_is_told_with_the_time_left(desk: Workspace) -> None:
    desk.files.put(b"nobody named it yet")
    app = page(link__runs="disk")
    assert app.button(key="runs.disk.unused").disabled
    assert "19 B that nothing refers to came within the last hour" in texts(app)
    assert "it can be freed in 60 minutes" in texts(app)


def test_nothing_is_said_where_nothing_is_held_back(desk: Workspace) -> None:
    use = services.disk_use()
    assert held_line(use, now()) == ""
    at = now()
    held = replace(use, held_bytes=2_000_000, held_until=at + timedelta(seconds=20))
    assert held_line(held, at).startswith("2.00 MB that nothing refers to")
    assert held_line(held, at).endswith("it can be freed in 1 minute.")


def test_forgetting_the_job_that_opened_something_frees_it(desk: Workspace) -> None:
    job_id = queue.submit(desk, "bring", {"files": [{"name": "a.zip", "sha256": desk.files.put(b"damaged")}]})
    queue.stop(desk, job_id)
    assert "7 B was opened by jobs on no model: it goes when these are forgotten." in texts(page(link__runs="disk"))
    press(page(link__run=job_id), f"run.delete.yes.{job_id}")
    assert list(desk.files.stored()) == []
    assert jobs_line(services.disk_use()) == ""
