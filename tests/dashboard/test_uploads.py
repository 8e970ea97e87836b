"""Uploads: what is wrong with a file reaches the page in one clear line with a hint, and never as a stack trace."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from core.errors import DataError, ModelError, RequestError
from core.jobs import queue
from core.jobs.outcome import fail
from core.jobs.queue import jobs
from core.store.rows import JobState
from core.store.tables import JOBS
from core.store.workspace import Workspace
from dashboard import loading, services, state
from dashboard.options import UPLOAD_LIMIT_MB
from tests.dashboard.worked import work

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "app_pages" / "model.py"

MODEL = onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
net (float[n, 4] x) => (float[n, 3] y)
<float[4, 3] w = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}>
{ h = MatMul (x, w)  y = Relu (h) }
""").SerializeToString()


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A visitor's session and address, as plain dictionaries."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", kept)
    monkeypatch.setattr("streamlit.query_params", {})
    return kept


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def rows(count: int = 24) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(count, 4)).astype(np.float32)


def page(session: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The Model page as this visitor sees it."""
    monkeypatch.undo()
    app = AppTest.from_file(str(PAGE), default_timeout=30)
    for name in ("link.model", "link.data"):
        app.session_state[name] = session.get(name)
    app.run()
    assert not app.exception
    return app


def test_a_model_with_data_is_read_with_both(desk: Workspace) -> None:
    loading.open_upload([("net.onnx", MODEL), ("eval.npz", npz(x=rows(), y=np.zeros(24, np.int64)))])
    work(desk)
    on = services.subject()
    assert on is not None
    assert on.data is not None
    assert (on.model.name, on.model.origin, on.data.name) == ("net", "upload", "eval")
    document = services.inspection(on)
    assert document is not None
    assert document["data"]["labels"] is True
    assert document["model"]["layer_count"] == 2


def test_data_that_comes_later_belongs_to_the_model_on_the_desk(desk: Workspace) -> None:
    loading.open_upload([("net.onnx", MODEL)])
    work(desk)
    first = services.subject()
    assert first is not None
    assert first.data is None
    loading.open_upload([("eval.npz", npz(x=rows()))])
    work(desk)
    then = services.subject()
    assert then is not None
    assert then.model == first.model
    assert then.data is not None
    assert [row.name for row in services.datasets(then.model)] == ["eval"]


WRONG_DATA = {
    "unknown input": (npz(image=rows()), "image"),
    "wrong shape": (npz(x=rows()[:, :3]), "x"),
    "wrong type": (npz(x=rows().astype(str)), "x"),
    "labels of another length": (npz(x=rows(), y=np.zeros(7, np.int64)), "7"),
    "not a number": (npz(x=np.where(rows() > 2, np.nan, rows())), "NaN"),
    "no archive": (b"these are notes", "NPZ"),
}


@pytest.mark.parametrize(("content", "named"), WRONG_DATA.values(), ids=list(WRONG_DATA))
def test_wrong_data_is_told_in_one_line_and_can_be_left_out(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, content: bytes, named: str
) -> None:
    loading.open_upload([("net.onnx", MODEL), ("eval.npz", content)])
    work(desk)
    app = page(session, monkeypatch)
    (told,) = (error.value.replace("\\", "") for error in app.error)
    assert named.lower() in told.lower()
    assert len(told.split("  \n")) <= 2
    assert "Traceback" not in told
    next(button for button in app.button if button.label == "Go on without this data").click().run()
    assert not app.exception
    assert jobs(desk)[0].params["data"] is None


@pytest.mark.parametrize("content", [b"these are notes, not a model", MODEL[: len(MODEL) // 2], b"\x08\x08PK"])
def test_a_file_that_is_no_model_is_told_in_one_line(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    loading.open_upload([("net.onnx", content)])
    work(desk)
    assert desk.models() == ()
    app = page(session, monkeypatch)
    (told,) = (error.value for error in app.error)
    assert len(told.split("  \n")) <= 2
    assert "Traceback" not in told
    assert "Open sample" in [button.label for button in app.button]


def test_an_empty_file_is_refused_at_once(desk: Workspace) -> None:
    with pytest.raises(ModelError, match=r"'net\.onnx' is empty"):
        loading.open_upload([("net.onnx", b"")])
    assert jobs(desk) == ()


def test_a_file_that_is_too_large_is_refused_at_once(desk: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert UPLOAD_LIMIT_MB > 0
    monkeypatch.setattr(loading, "UPLOAD_LIMIT_MB", 0)
    with pytest.raises(DataError, match=r"'eval\.npz' is larger than 0 MB"):
        loading.open_upload([("eval.npz", npz(x=rows()))])
    assert jobs(desk) == ()


def test_a_file_of_another_kind_is_refused_by_name(desk: Workspace) -> None:
    with pytest.raises(RequestError, match=r"'notes\.pdf' is neither a model nor data"):
        loading.open_upload([("notes.pdf", b"notes")])
    assert desk.models() == ()
    assert jobs(desk) == ()


def test_two_models_at_once_are_refused(desk: Workspace) -> None:
    with pytest.raises(RequestError, match=r"2 \.onnx files were given"):
        loading.open_upload([("a.onnx", MODEL), ("b.onnx", MODEL)])
    assert desk.models() == ()


def test_data_without_a_model_is_refused(desk: Workspace) -> None:
    with pytest.raises(DataError, match="no model to use this data with"):
        loading.open_upload([("eval.npz", npz(x=rows()))])
    assert desk.models() == ()


def test_a_sample_is_opened_with_its_data(desk: Workspace) -> None:
    loading.open_sample("silero-vad")
    on = services.subject()
    assert on is not None
    assert on.data is not None
    assert (on.model.name, on.model.origin) == ("silero-vad", "sample")
    assert [row.params["data"] for row in jobs(desk)] == [on.data.sha256]
    assert state.DATA.get() == on.data.sha256[:12]


def test_opening_the_same_sample_again_reads_it_once(desk: Workspace) -> None:
    for _ in range(2):
        loading.open_sample("silero-vad")
    assert len(jobs(desk)) == 1


@pytest.mark.parametrize(
    ("given", "shown"),
    [("C:\\nets\\a.onnx", "a.onnx"), ("../../etc/x.onnx", "x.onnx"), ("a\x00\nb.onnx", "a b.onnx"), ("", "unnamed")],
)
def test_names_lose_folders_and_control_characters(given: str, shown: str) -> None:
    assert loading.shown_name(given) == shown


def refused_before(desk: Workspace, origin: str) -> str:
    """A model that the command line gave and whose reading failed; returns its hash."""
    sha256 = desk.files.put(MODEL, suffix=".onnx")
    params = {"model": sha256, "data": None, **services.DEFAULTS, "model_name": "first", "origin": origin}
    job_id = queue.submit(desk, "inspect", params, title="Inspect first")
    with desk.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(state=JobState.RUNNING))
    assert fail(desk, job_id, {"kind": "crashed", "message": "It was killed.", "hint": None, "layer": None})
    return sha256


def test_a_fresh_upload_is_read_again_where_the_last_reading_failed(desk: Workspace) -> None:
    sha256 = refused_before(desk, "/home/somebody/first.onnx")
    loading.open_upload([("net.onnx", MODEL)])
    assert [row.state for row in jobs(desk)] == [JobState.QUEUED, JobState.FAILED]
    work(desk)
    assert (desk.model(sha256).name, desk.model(sha256).origin) == ("net", "upload")


def test_a_model_that_the_command_line_gave_counts_as_uploaded_from_then_on(desk: Workspace) -> None:
    sha256 = desk.files.put(MODEL, suffix=".onnx")
    desk.add_model("first", sha256, len(MODEL), "/home/somebody/first.onnx")
    loading.open_upload([("net.onnx", MODEL)])
    assert (desk.model(sha256).name, desk.model(sha256).origin) == ("first", "upload")


@pytest.mark.parametrize(
    ("origin", "shown"),
    [("/home/somebody/a.onnx", "a.onnx"), ("C:\\nets\\a.onnx", "a.onnx"), ("upload", "upload"), ("", "")],
)
def test_an_origin_is_shown_without_folders(origin: str, shown: str) -> None:
    assert loading.shown_origin(origin) == shown
