"""Bring: in whatever form a model and its data come, it ends as stored files, as what is missing, or as a sentence."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.errors import DataError, ModelError, NotFoundError, RequestError
from core.intake.folders import FOLDERS_VARIABLE
from core.jobs import queue
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.bring import bring
from tests.tasks.recording import Recording

WEIGHTS = np.arange(12, dtype=np.float32).tobytes()


def model(location: str | None = "weights.bin") -> bytes:
    """A model of one MatMul; its weight lies in another file, or within."""
    proto = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]>
        net (float[n, 4] x) => (float[n, 3] y) { y = MatMul (x, w) }
    """)
    weight = proto.graph.initializer.add(name="w", data_type=onnx.TensorProto.FLOAT, dims=[4, 3])
    if location is None:
        weight.raw_data = WEIGHTS
    else:
        weight.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", location), ("length", str(len(WEIGHTS)))):
            weight.external_data.add(key=key, value=value)
    return bytes(proto.SerializeToString())


def packed(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return stream.getvalue()


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, x=np.zeros((3, 4), np.float32))
    return stream.getvalue()


def dropped(store: Workspace, **files: bytes) -> dict[str, Any]:
    """What the task makes of files that were uploaded under these names."""
    given = {name.replace("__", "/").replace("_dot_", "."): content for name, content in files.items()}
    staged = [{"name": name, "sha256": store.files.put(content, suffix="")} for name, content in given.items()]
    return bring(store, {"files": staged}, Silent())


def files_of(store: Workspace, sha256: str) -> dict[str, bytes]:
    folder = store.files.path(sha256).parent
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_model_and_its_weights_are_stored_as_one(store: Workspace) -> None:
    found = dropped(store, net_dot_onnx=model(), weights_dot_bin=WEIGHTS)
    assert (found["name"], found["missing"], found["origin"]) == ("net", [], "upload")
    assert files_of(store, found["model"]) == {"net.onnx": model(), "weights.bin": WEIGHTS}


def test_the_pieces_are_not_kept_twice(store: Workspace) -> None:
    found = dropped(store, net_dot_onnx=model(), weights_dot_bin=WEIGHTS)
    assert [file.sha256 for file in store.files.stored()] == [found["model"]]


@pytest.mark.parametrize("name", ["weights.txt", "weights.wav", "weights", "model.onnx_data"])
def test_weights_may_have_any_name(store: Workspace, name: str) -> None:
    staged = {"net.onnx": model(name), name: WEIGHTS}
    params = {"files": [{"name": each, "sha256": store.files.put(content)} for each, content in staged.items()]}
    found = bring(store, params, Silent())
    assert found["model"]
    assert (found["data"], found["unused"]) == (None, [])


def test_missing_weights_are_named_and_nothing_is_lost(store: Workspace) -> None:
    found = dropped(store, net_dot_onnx=model())
    assert (found["model"], found["missing"]) == (None, ["weights.bin"])
    again = dropped(store, net_dot_onnx=model(), weights_dot_bin=WEIGHTS)
    assert again["model"]


def test_an_archive_is_unpacked_and_may_be_completed_by_one_file(store: Workspace) -> None:
    whole = dropped(store, net_dot_zip=packed(deep__net_dot_onnx=model(), deep__weights_dot_bin=WEIGHTS))
    assert files_of(store, whole["model"])["weights.bin"] == WEIGHTS
    half = packed(deep__net_dot_onnx=model())
    assert dropped(store, net_dot_zip=half)["missing"] == ["weights.bin"]
    assert dropped(store, net_dot_zip=half, weights_dot_bin=WEIGHTS)["model"] == whole["model"]


def test_model_and_data_may_come_in_one_drop(store: Workspace) -> None:
    found = dropped(store, net_dot_onnx=model(None), eval_dot_npz=npz(), notes_dot_pdf=b"notes")
    assert found["model"]
    assert (found["data"]["name"], found["data"]["kind"]) == ("eval.npz", "npz")
    assert found["unused"] == ["notes.pdf"]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("pictures_dot_zip", packed(a__1_dot_png=b"1", b__2_dot_png=b"2"), "images"),
        ("sounds_dot_zip", packed(a_dot_wav=b"1"), "audio"),
        ("rows_dot_csv", b"text,label\nhello,1\n", "text"),
        ("eval_dot_npz", npz(), "npz"),
    ],
)
def test_data_alone_is_told_by_its_kind(store: Workspace, name: str, content: bytes, kind: str) -> None:
    found = dropped(store, **{name: content})
    assert found["model"] is None
    assert found["data"]["kind"] == kind
    assert store.files.has(found["data"]["sha256"])


def test_single_pictures_become_one_set_of_data(store: Workspace) -> None:
    found = dropped(store, b_dot_png=b"2", a_dot_png=b"1")
    assert (found["data"]["kind"], found["data"]["name"]) == ("images", "2 files.zip")
    with zipfile.ZipFile(store.files.path(found["data"]["sha256"])) as archive:
        assert archive.namelist() == ["a.png", "b.png"]
    assert dropped(store, a_dot_png=b"1", b_dot_png=b"2")["data"] == found["data"]


def test_a_tokenizer_is_kept_beside_the_texts(store: Workspace) -> None:
    found = dropped(store, rows_dot_csv=b"text\nhello\n", tokenizer_dot_json=b"{}")
    assert store.files.read(found["tokenizer"]) == b"{}"


def test_weights_outside_the_folder_are_refused_not_asked_for(store: Workspace) -> None:
    for location in ("../weights.bin", "/etc/passwd"):
        with pytest.raises(ModelError, match="outside its folder"):
            dropped(store, net_dot_onnx=model(location))


def test_what_is_neither_model_nor_data_is_refused_by_name(store: Workspace) -> None:
    with pytest.raises(RequestError, match=r"'notes\.pdf' is neither a model nor data"):
        dropped(store, notes_dot_pdf=b"notes")
    with pytest.raises(DataError, match=r"'code\.zip' holds no \.onnx, no images, .*, but 'main\.json'"):
        dropped(store, code_dot_zip=packed(main_dot_json=b"{}"))
    with pytest.raises(DataError, match=r"'half\.zip'"):
        dropped(store, half_dot_zip=packed(a_dot_png=b"1" * 999)[:60])


def test_what_is_refused_is_not_kept_unless_something_else_names_it(store: Workspace) -> None:
    known = store.files.put(b"known", suffix="")
    store.add_model("known", known, 5)
    wanted = store.files.put(b"wanted", suffix="")
    for name in ("this", "another"):
        queue.submit(store, "bring", {"files": [{"name": "b.bin", "sha256": wanted}], "for": name})
    with pytest.raises(RequestError, match="neither a model nor data"):
        dropped(store, notes_dot_pdf=b"notes", a_dot_bin=b"known", b_dot_bin=b"wanted")
    assert {file.sha256 for file in store.files.stored()} == {known, wanted}


def test_two_of_one_kind_are_refused(store: Workspace) -> None:
    with pytest.raises(RequestError, match=r"2 models were given: 'a\.onnx', 'b\.onnx'"):
        dropped(store, a_dot_onnx=model(None), b_dot_onnx=model(None))
    with pytest.raises(RequestError, match="2 sets of data"):
        dropped(store, a_dot_npz=npz(), b_dot_zip=packed(a_dot_png=b"1"))


def test_a_hostile_archive_is_refused(store: Workspace) -> None:
    hostile = {"../net.onnx": model(None)}
    with pytest.raises(RequestError, match="outside the folder"):
        dropped(store, net_dot_zip=packed(**hostile))


@pytest.fixture
def allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "nets"
    folder.mkdir()
    monkeypatch.setenv(FOLDERS_VARIABLE, os.pathsep.join([str(folder)]))
    return folder


def test_a_file_of_a_server_folder_brings_the_weights_beside_it(store: Workspace, allowed: Path) -> None:
    (allowed / "net.onnx").write_bytes(model())
    (allowed / "weights.bin").write_bytes(WEIGHTS)
    progress = Recording()
    found = bring(store, {"folder": "nets", "path": "net.onnx"}, progress)
    assert found["origin"] == "server folder"
    assert files_of(store, found["model"])["weights.bin"] == WEIGHTS
    assert progress.steps[-1][0] == progress.steps[-1][1]
    assert (allowed / "net.onnx").exists()


def test_data_of_a_server_folder_is_copied_in(store: Workspace, allowed: Path) -> None:
    (allowed / "eval.npz").write_bytes(npz())
    found = bring(store, {"folder": "nets", "path": "eval.npz"}, Silent())
    assert store.files.read(found["data"]["sha256"]) == npz()


def test_a_file_outside_the_server_folders_is_refused(store: Workspace, allowed: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.onnx").write_bytes(model(None))
    (allowed / "link.onnx").symlink_to(tmp_path / "secret.onnx")
    for path in ("../secret.onnx", "link.onnx"):
        with pytest.raises(RequestError, match="leads out"):
            bring(store, {"folder": "nets", "path": path}, Silent())
    with pytest.raises(NotFoundError, match="no folder 'other'"):
        bring(store, {"folder": "other", "path": "net.onnx"}, Silent())


def test_pieces_that_have_gone_are_told(store: Workspace) -> None:
    with pytest.raises(NotFoundError, match=r"'net\.onnx' is not in the workspace any more"):
        bring(store, {"files": [{"name": "net.onnx", "sha256": "0" * 64}]}, Silent())
