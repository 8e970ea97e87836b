"""A bundle is written when it is first asked for, found again after that, and what goes wrong is one sentence."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from core.jobs import queue
from core.jobs.outcome import fail, finish
from core.store.rows import CandidateRow, JobRow
from core.store.workspace import Workspace
from dashboard import services
from dashboard.routes import all_routes
from tests.dashboard.asgi import Answer, get


@pytest.fixture
def row(desk: Workspace) -> CandidateRow:
    """A candidate of a model."""
    model = desk.files.put(b"model")
    desk.add_model("net", model, 5)
    made: dict[str, Any] = {"recipe": {}, "plan": {}, "report": {}}
    return desk.add_candidate(
        CandidateRow(model_sha256=model, file_sha256=desk.files.put(b"built"), name="all int8 <b>", **made)
    )


def bundles(desk: Workspace) -> tuple[JobRow, ...]:
    return queue.jobs(desk, kind="bundle")


def asked_while(desk: Workspace, row: CandidateRow, end: Any) -> Answer:
    """Asks for the bundle; `end` gets the job that is queued for it, as a server's worker would."""

    def work() -> None:
        while not bundles(desk):
            time.sleep(0.01)
        end(bundles(desk)[0])

    worker = threading.Thread(target=work)
    worker.start()
    answer = get(all_routes(), services.bundle_url(row, "net"))
    worker.join()
    return answer


def test_the_address_has_a_name_to_save_it_by(row: CandidateRow) -> None:
    assert services.bundle_url(row, "my/net") == f"/bundles/{row.id}/my-net-all-int8-b.o3"


def test_it_is_written_once_and_saved_never_shown(desk: Workspace, row: CandidateRow) -> None:
    def done(job: JobRow) -> None:
        assert job.params["candidate"] == row.id
        finish(desk, job.id, {"file": desk.files.put(b"the bundle", suffix=".o3")})

    for _ in range(2):
        answer = asked_while(desk, row, done if not bundles(desk) else lambda job: None)
        assert (answer.status, answer.body) == (200, b"the bundle")
        assert answer.headers["content-disposition"].startswith("attachment;")
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(bundles(desk)) == 1


def test_a_bundle_that_was_swept_away_is_written_again(desk: Workspace, row: CandidateRow) -> None:
    sha256 = desk.files.put(b"old", suffix=".o3")
    asked_while(desk, row, lambda job: finish(desk, job.id, {"file": sha256}))
    desk.files.remove(sha256)
    found: list[Answer] = []
    asking = threading.Thread(target=lambda: found.append(get(all_routes(), services.bundle_url(row))))
    asking.start()
    while len(bundles(desk)) < 2:
        time.sleep(0.01)
    finish(desk, bundles(desk)[0].id, {"file": desk.files.put(b"new", suffix=".o3")})
    asking.join()
    assert found[0].body == b"new"


def test_what_went_wrong_is_one_sentence(desk: Workspace, row: CandidateRow) -> None:
    error = {"kind": "not-found", "message": "The workspace has no data file.", "hint": "Give it again.", "layer": None}
    answer = asked_while(desk, row, lambda job: fail(desk, job.id, error, stopped=False))
    assert (answer.status, answer.text) == (404, "The workspace has no data file. Give it again.")


@pytest.mark.parametrize("candidate", ["nothing", "..", "%2e%2e"])
def test_an_unknown_candidate_is_not_found(desk: Workspace, candidate: str) -> None:
    assert get(all_routes(), f"/bundles/{candidate}/x.o3").status == 404
    assert bundles(desk) == ()
