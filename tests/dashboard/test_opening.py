"""Opening: drops of every form end on the desk, as a question for what is missing, or as one sentence."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.errors import DataError, MixdeskError, RequestError
from core.intake.folders import FOLDERS_VARIABLE
from core.jobs.queue import jobs
from core.store.rows import JobRow, JobState, now
from core.store.workspace import Workspace
from dashboard import arriving, loading, opening, services, state
from tests.dashboard.faked import below
from tests.dashboard.worked import begin, work
from tests.tasks.test_bring import WEIGHTS, model, npz, packed

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "app_pages" / "model.py"
LINK = ("link.model", "link.data", "link.opening", "link.preparing")


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A visitor's session and address, as plain dictionaries."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr("streamlit.session_state", kept)
    monkeypatch.setattr("streamlit.query_params", {})
    return kept


def page(session: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """The Model page as this visitor sees it."""
    monkeypatch.undo()
    app = AppTest.from_file(str(PAGE), default_timeout=30)
    for name in LINK:
        app.session_state[name] = session.get(name)
    app.run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.subheader, app.error, app.warning, app.info)
    return "\n".join(str(each.value) for kind in kinds for each in kind).replace("\\", "")


def opened_job(desk: Workspace) -> JobRow:
    work(desk)
    row = services.find_job(state.OPENING.get())
    assert row is not None
    return row


def photos() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(6):
            picture = io.BytesIO()
            Image.fromarray(np.full((4, 4, 3), 40 * number, np.uint8)).save(picture, "PNG")
            archive.writestr(f"{number}_x.png", picture.getvalue())
    return stream.getvalue()


def test_a_model_in_one_piece_goes_on_the_desk_without_a_detour(desk: Workspace, session: dict[str, Any]) -> None:
    loading.open_upload([("net.onnx", model(None)), ("eval.npz", npz())])
    assert [row.kind for row in jobs(desk)] == ["inspect"]
    assert state.OPENING.get() is None


def test_jobs_that_opened_model_or_data_belong_to_the_model_from_then_on(
    desk: Workspace, session: dict[str, Any]
) -> None:
    loading.open_upload([("net.zip", packed(net_dot_onnx=model(None)))])
    first = opened_job(desk)
    arriving.opened(first)
    on = services.subject()
    assert on is not None
    loading.open_upload([("photos.zip", photos())])
    second = opened_job(desk)
    assert second.model_sha256 is None
    arriving.opened(second)
    assert {services.job(each.id).model_sha256 for each in (first, second)} == {on.model.sha256}
    work(desk)
    assert services.delete_model(on.model.sha256) > 0
    assert (list(desk.files.stored()), jobs(desk)) == ([], ())


def test_a_model_with_its_weights_is_opened_by_a_job_and_then_read(desk: Workspace, session: dict[str, Any]) -> None:
    loading.open_upload([("net.onnx", model()), ("weights.bin", WEIGHTS), ("eval.npz", npz())])
    arriving.opened(opened_job(desk))
    on = services.subject()
    assert on is not None
    assert on.data is not None
    assert (on.model.name, on.model.origin, on.data.name) == ("net", "upload", "eval")
    assert state.OPENING.get() is None
    work(desk)
    document = services.inspection(on)
    assert document is not None
    assert document["model"]["layer_count"] == 1


def test_while_files_are_looked_at_their_card_is_shown(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.open_upload([("net.zip", packed(net_dot_onnx=model(None)))])
    begin(desk, jobs(desk)[0])
    app = page(session, monkeypatch)
    assert "Open net.zip" in shown(app)
    assert [button.label for button in app.button] == ["Stop"]


def test_missing_weights_are_named_and_dropping_them_alone_completes_the_model(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.open_upload([("net.onnx", model())])
    row = opened_job(desk)
    arriving.opened(row)
    assert opening.waits_for(row) == opening.Waiting(
        "net.onnx", {"net.onnx": row.params["files"][0]["sha256"]}, ("weights.bin",)
    )
    loading.open_upload([("weights.bin", WEIGHTS)])
    arriving.opened(opened_job(desk))
    on = services.subject()
    assert on is not None
    assert on.model.name == "net"


def test_a_file_that_is_not_missing_is_told_and_dropped(desk: Workspace) -> None:
    loading.open_upload([("net.onnx", model())])
    opened_job(desk)
    with pytest.raises(RequestError, match=r"^notes\.txt is not one of the missing files: weights\.bin$"):
        loading.open_upload([("notes.txt", b"some notes")])
    assert len(jobs(desk)) == 1
    loading.open_upload([("weights.bin", WEIGHTS), ("more.txt", b"more notes")])
    assert state.TOLD.get() == "more.txt is not one of the missing files: weights.bin"
    row = opened_job(desk)
    assert [each["name"] for each in row.params["files"]] == ["net.onnx", "weights.bin"]
    arriving.opened(row)
    on = services.subject()
    assert on is not None
    assert on.model.name == "net"
    assert state.PREPARING.get() is None


def test_the_page_asks_for_what_is_missing_by_its_name(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.open_upload([("n<b>.onnx", model("w*ights.bin"))])
    work(desk)
    app = page(session, monkeypatch)
    assert "w*ights.bin is missing: drop it together with the model" in shown(app)
    app.button(key="opening.close").click().run()
    assert not app.exception
    assert "is missing" not in shown(app)
    assert "Open sample" in [button.label for button in app.button]


def test_a_refused_archive_is_told_in_one_line(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.open_upload([("net.zip", packed(net_dot_onnx=model(None))[:50])])
    work(desk)
    app = page(session, monkeypatch)
    assert "'net.zip' is not a readable .zip archive" in shown(app)
    assert "Traceback" not in shown(app)
    assert "Open sample" in [button.label for button in app.button]


def test_pictures_for_the_model_on_the_desk_are_prepared(desk: Workspace, session: dict[str, Any]) -> None:
    loading.open_upload([("net.onnx", model(None))])
    loading.open_upload([("photos.zip", photos())])
    row = opened_job(desk)
    arriving.opened(row)
    source = opening.source_of(services.find_job(state.PREPARING.get()))
    assert source is not None
    assert (source.kind, source.name, source.job) == ("images", "photos.zip", row.id)


def test_data_without_a_model_is_told_before_anything_is_stored(desk: Workspace, session: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="no model to use this data with"):
        loading.open_upload([("rows.csv", b"text,label\nhello,1\n")])
    assert list(desk.files.stored()) == []


def test_an_archive_of_data_without_a_model_is_told_when_it_was_seen(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loading.open_upload([("photos.zip", photos())])
    arriving.opened(opened_job(desk))
    told = state.NOTICE.get()
    assert told is not None
    assert told["message"] == (
        "'photos.zip' holds no .onnx, but '0_x.png', '1_x.png', '2_x.png' and 3 more; "
        "there is no model to use this data with."
    )
    assert state.OPENING.get() is None


def test_what_was_of_no_use_is_told(desk: Workspace, session: dict[str, Any]) -> None:
    loading.open_upload([("net.onnx", model(None)), ("notes.pdf", b"notes")])
    arriving.opened(opened_job(desk))
    assert state.TOLD.get() == "Not used, since the model asks for no such file: 'notes.pdf'."


def test_a_server_file_is_opened_by_folder_and_path(
    desk: Workspace, session: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "big.onnx").write_bytes(model())
    (tmp_path / "nets" / "weights.bin").write_bytes(WEIGHTS)
    monkeypatch.setenv(FOLDERS_VARIABLE, str(tmp_path / "nets"))
    loading.open_server_file("nets", "big.onnx")
    arriving.opened(opened_job(desk))
    on = services.subject()
    assert on is not None
    assert (on.model.name, on.model.origin) == ("big", "server folder")
    with pytest.raises(MixdeskError, match="leads out"):
        loading.open_server_file("nets", "../secret.onnx")


def test_the_page_lists_files_of_server_folders_or_says_how_to_allow_one(
    desk: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FOLDERS_VARIABLE, raising=False)
    app = AppTest.from_file(str(PAGE), default_timeout=30).run()
    assert "mixdesk ui --folder DIR" in shown(app)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "b" / "net *x*.onnx").write_bytes(b"12345")
    monkeypatch.setenv(FOLDERS_VARIABLE, os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    app = AppTest.from_file(str(PAGE), default_timeout=30).run()
    assert "The server folder 'a' has no models" in shown(app)
    app.selectbox(key="first.server.folder").select("b").run()
    box = app.selectbox(key="first.server.b.file.0")
    assert box.options == ["net *x*.onnx · 5 B"]
    assert app.button(key="first.server.open.0").disabled
    box.select_index(0).run()
    app.button(key="first.server.open.0").click().run()
    assert not app.exception
    assert jobs(desk)[0].params["path"] == "net *x*.onnx"


def test_after_data_of_a_server_folder_found_no_model_the_folder_stays_and_nothing_invisible_can_be_opened(
    desk: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "net.onnx").write_bytes(model(None))
    (tmp_path / "b" / "photos.zip").write_bytes(photos())
    monkeypatch.setenv(FOLDERS_VARIABLE, os.pathsep.join([str(tmp_path / "a"), str(tmp_path / "b")]))
    app = AppTest.from_file(str(PAGE), default_timeout=30).run()
    app.selectbox(key="first.server.folder").select("b").run()
    app.selectbox(key="first.server.b.file.0").select_index(0).run()
    app.button(key="first.server.open.0").click().run()
    work(desk)
    app.run()
    assert "no model to use this data with" in str(app.session_state["notice"])
    app.run()
    assert app.selectbox(key="first.server.folder").value == "b"
    assert app.selectbox(key="first.server.b.file.1").value is None
    assert app.button(key="first.server.open.1").disabled
    assert len(jobs(desk)) == 1


def test_data_files_of_a_server_folder_are_offered_once_there_is_a_model_to_use_them_with(
    desk: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "net.onnx").write_bytes(model(None))
    (tmp_path / "a" / "eval.npz").write_bytes(npz())
    monkeypatch.setenv(FOLDERS_VARIABLE, str(tmp_path / "a"))
    app = AppTest.from_file(str(PAGE), default_timeout=30).run()
    assert [option.split(" ")[0] for option in app.selectbox(key="first.server.a.file.0").options] == ["net.onnx"]
    assert "Data files are offered here once a model is open." in shown(app)
    app.session_state["link.model"] = desk.add_model("net", desk.files.put(model(None)), 9, "upload").sha256
    app.run()
    options = app.selectbox(key="another.server.a.file.0").options
    assert [option.split(" ")[0] for option in options] == ["eval.npz", "net.onnx"]


def test_a_refused_drop_is_told_below_its_field(desk: Workspace) -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=30).run()
    app.file_uploader(key="upload.first.0").set_value([("notes.pdf", b"notes", "application/pdf")]).run()
    assert "'notes.pdf' is neither a model nor data" in below(app, "upload.first.1")


def test_many_missing_files_are_counted() -> None:
    told = opening.told_missing([f"w{number}" for number in range(6)])
    assert told.startswith("w0, w1, w2, w3 and 2 more are missing: drop them")
    assert "put it beside the model" in opening.told_missing(["w"], on_server=True)


def test_a_job_that_ended_badly_waits_for_nothing(desk: Workspace) -> None:
    job_id = services.submit_bring("Open", files=[])
    row = services.job(job_id)
    assert row.state is JobState.QUEUED
    assert opening.waits_for(row) is None
    assert opening.waits_for(None) is None
    assert row.created_at <= now()


def test_a_run_that_is_ended_in_between_is_made_up_for_by_the_next(
    desk: Workspace, session: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A visitor's click, or a card that refreshes itself, may end a run at any change of the session."""
    loading.open_upload([("net.onnx", model()), ("weights.bin", WEIGHTS), ("photos.zip", photos())])
    row = opened_job(desk)

    class EndedError(Exception):
        """Stands for what Streamlit raises then."""

    whole = state.LinkKey.set
    for allowed in range(12):
        left = [allowed]

        def ends(key: state.LinkKey, value: str | None, left: list[int] = left) -> None:
            if left[0] == 0:
                raise EndedError
            left[0] -= 1
            whole(key, value)

        monkeypatch.setattr(state.LinkKey, "set", ends)
        if state.OPENING.get() is None:
            break
        try:
            arriving.opened(row)
        except EndedError:
            continue
    assert state.PREPARING.get() == row.id
    on = services.subject()
    assert on is not None
    assert on.model.name == "net"
