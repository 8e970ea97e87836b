"""Services find what is on the desk, the newest document for just that, and files by their hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.errors import NotFoundError
from core.jobs.outcome import fail, finish
from core.store.rows import CandidateRow, JobState
from core.store.workspace import Workspace
from dashboard import services, state
from dashboard.services import Subject


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A visitor's session and address, as plain dictionaries."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", kept)
    monkeypatch.setattr("streamlit.query_params", {})
    return kept


@pytest.fixture
def on(desk: Workspace) -> Subject:
    model = desk.files.put(b"a model", suffix=".onnx")
    data = desk.files.put(b"some data", suffix=".npz")
    return Subject(model=desk.add_model("digits", model, 7, "sample"), data=desk.add_dataset("eval", data, model, 9))


@contextmanager
def chosen(on: Subject) -> Iterator[None]:
    state.choose_model(on.model.sha256, data=None if on.data is None else on.data.sha256)
    yield


def done(desk: Workspace, job_id: str, **document: Any) -> None:
    claim(desk, job_id)
    assert finish(desk, job_id, document)


def claim(desk: Workspace, job_id: str) -> None:
    from sqlalchemy import update

    from core.store.tables import JOBS

    with desk.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(state=JobState.RUNNING))


def test_nothing_is_on_an_empty_desk(desk: Workspace) -> None:
    assert desk.models() == ()
    assert services.subject() is None


def test_the_link_puts_model_and_data_on_the_desk(on: Subject) -> None:
    with chosen(on):
        assert services.subject() == on


def test_without_a_word_on_data_the_newest_given_for_the_model_is_used(on: Subject) -> None:
    state.choose_model(on.model.sha256)
    found = services.subject()
    assert found is not None
    assert found.data == on.data


def test_synthetic_inputs_can_be_asked_for(on: Subject) -> None:
    state.choose_model(on.model.sha256, data=state.SYNTHETIC)
    found = services.subject()
    assert found is not None
    assert found.data is None
    assert found.params["data"] is None


def test_a_model_that_is_being_read_is_on_the_desk_before_it_is_known(desk: Workspace) -> None:
    sha256 = desk.files.put(b"new", suffix=".onnx")
    services.workspace()
    from core.jobs.queue import submit

    submit(desk, "inspect", {"model": sha256, "data": None, "model_name": "fresh", "origin": "upload"})
    state.choose_model(sha256, data=state.SYNTHETIC)
    found = services.subject()
    assert found is not None
    assert (found.model.name, found.model.size_bytes, found.model.origin) == ("fresh", 3, "upload")


def test_a_document_belongs_to_just_this_model_data_and_shapes(desk: Workspace, on: Subject) -> None:
    done(desk, services.submit_profile(on), layers=[1])
    assert services.profile(on) == {"layers": [1]}
    synthetic = Subject(model=on.model, data=None)
    assert services.profile(synthetic) is None
    shaped = Subject(model=on.model, data=None, shapes={"x": (1, 2)})
    done(desk, services.submit_profile(shaped), layers=[2])
    assert services.profile(shaped) == {"layers": [2]}
    assert services.profile(synthetic) is None


def test_the_newest_document_wins(desk: Workspace, on: Subject) -> None:
    done(desk, services.submit_profile(on), layers=[1])
    done(desk, services.submit_profile(on), layers=[2])
    assert services.profile(on) == {"layers": [2]}


def test_reading_is_asked_for_once_and_a_failure_is_not_repeated(desk: Workspace, on: Subject) -> None:
    first = services.ensure_inspected(on)
    assert first is not None
    assert first.state is JobState.QUEUED
    again = services.ensure_inspected(on)
    assert again is not None
    assert again.id == first.id
    claim(desk, first.id)
    fail(desk, first.id, {"kind": "model", "message": "No.", "hint": None, "layer": None})
    failed = services.ensure_inspected(on)
    assert failed is not None
    assert (failed.id, failed.state) == (first.id, JobState.FAILED)
    done(desk, services.submit_again(failed), model={})
    assert services.ensure_inspected(on) is None


def test_an_active_job_is_found_for_its_kind_only(desk: Workspace, on: Subject) -> None:
    job_id = services.submit_build(on, {"version": 1, "rules": []}, name="all int8")
    found = services.job_of(on, "build")
    assert found is not None
    assert found.id == job_id
    assert services.job_of(on, "profile") is None
    done(desk, job_id)
    assert services.job_of(on, "build") is None
    last = services.job_of(on, "build", active=False)
    assert last is not None
    assert last.state is JobState.DONE


def test_a_second_click_starts_nothing_new(desk: Workspace, on: Subject) -> None:
    starts: tuple[Callable[[], str], ...] = (
        lambda: services.submit_profile(on),
        lambda: services.submit_build(on, {"version": 1, "rules": []}, name="all int8"),
        lambda: services.submit_optimize(on, target=None, time_budget_s=60.0),
        lambda: services.submit_machine(refresh=True),
    )
    for start in starts:
        assert start() == start()
    assert len(services.jobs()) == len(starts)


def test_a_build_carries_recipe_name_and_target(on: Subject) -> None:
    state.TARGET.set("accuracy>=99%")
    params = services.job(services.submit_build(on, {"version": 1, "rules": []}, name="mine")).params
    assert params["recipe"] == {"version": 1, "rules": []}
    assert (params["name"], params["target"], params["measure"]) == ("mine", "accuracy>=99%", True)
    assert (params["threads"], params["batch"], params["seed"]) == (1, 1, 0)
    assert (params["model_name"], params["data_name"]) == ("digits", "eval")


def test_the_log_is_shown_from_its_end(desk: Workspace, on: Subject) -> None:
    row = services.job(services.submit_profile(on))
    assert services.log_tail(row) == ""
    (desk.logs / row.log).write_text("\n".join(f"line {n}" for n in range(100)))
    assert services.log_tail(row, lines=2) == "line 98\nline 99"


def test_the_candidate_of_the_link_is_current_else_the_newest(desk: Workspace, on: Subject) -> None:
    made = [
        desk.add_candidate(
            CandidateRow(model_sha256=on.model.sha256, file_sha256="f" * 64, recipe={}, plan={}, report={"n": n})
        )
        for n in range(2)
    ]
    newest = services.current_candidate(on)
    assert newest is not None
    assert newest.id == made[1].id
    state.CANDIDATE.set(made[0].id)
    linked = services.current_candidate(on)
    assert linked is not None
    assert linked.id == made[0].id
    assert services.build(made[0].id) == {"n": 0}
    assert services.comparison(made[0].id) is None


def test_drafts_are_kept_apart_from_named_mixes(on: Subject) -> None:
    services.save_draft(on, {"rules": [1]})
    services.save_mix(on, "gentle", {"rules": []})
    assert services.draft(on) == {"rules": [1]}
    assert [row.name for row in services.mixes(on)] == ["gentle"]


def test_files_are_found_by_their_whole_hash_only(on: Subject) -> None:
    assert services.file_bytes(on.model.sha256) == b"a model"
    assert services.file_name(on.model.sha256) == "digits"
    assert services.find_file(on.model.sha256[:12]) is None
    assert services.find_file("../mixdesk.db") is None
    with pytest.raises(NotFoundError, match="no file 000000000000"):
        services.file_bytes("0" * 64)


def test_a_download_address_holds_any_name(on: Subject) -> None:
    assert services.file_url(on.model.sha256, "a b/c?.onnx") == f"/files/{on.model.sha256}/a%20b%2Fc%3F.onnx"


def test_batch_and_outputs_belong_to_a_build_but_not_to_the_reading(desk: Workspace, on: Subject) -> None:
    done(desk, services.submit_inspect(on), model={})
    done(desk, services.submit_profile(on), layers=[1])
    other = replace(on, batch=4, outputs={"y": 2.0})
    assert services.inspection(other) == {"model": {}}
    assert services.profile(other) is None
    assert services.profile(replace(on, outputs={"y": 2.0})) == {"layers": [1]}
    job_id = services.submit_build(other, {"version": 1, "rules": []}, name="mine")
    assert services.job(job_id).params["outputs"] == {"y": 2.0}
    assert services.job_of(on, "build") is None
