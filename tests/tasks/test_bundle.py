"""A kept candidate becomes a bundle: what belongs in it is in it, what is left out says why."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.errors import NotFoundError, RequestError
from core.progress import Silent
from core.report.bundle import load_bundle
from core.store.workspace import Workspace
from core.tasks import bundle as bundling
from core.tasks.build import build
from core.tasks.bundle import bundle, bundle_candidate
from core.tasks.registry import run_task

INT8 = {"version": 1, "rules": [{"match": "*", "precision": "int8"}]}


@pytest.fixture
def built(store: Workspace, network: dict[str, Any], unprobed: None) -> dict[str, Any]:
    """A candidate that was built and not measured."""
    return build(store, {**network, "recipe": INT8, "measure": False, "name": "all int8"}, Silent())


def members(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


def test_everything_belongs_in_it(store: Workspace, built: dict[str, Any], tmp_path: Path) -> None:
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3")
    with load_bundle(path) as opened:
        manifest = opened.manifest
        assert (manifest.name, manifest.model_name, manifest.left_out) == ("all int8", "network", ())
        assert manifest.shapes == {"x": (1, 3, 16, 16)}
        assert manifest.model_sha256 == store.candidate(built["candidate"]).model_sha256
        assert opened.report["candidate"] == built["candidate"]
        assert opened.recipe["rules"] == built["recipe"]["rules"]
        assert opened.model_bytes == store.files.read(built["file"])
        original = opened.member_path("original.onnx")
        assert original is not None
        assert original.read_bytes() == store.files.read(manifest.model_sha256)
    assert members(path) >= {"README.md", "run.py", "report.html", "plan.json", "manifest.json"}


def test_only_the_samples_that_were_reported_on_go_along(
    store: Workspace, built: dict[str, Any], network: dict[str, Any], tmp_path: Path
) -> None:
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3")
    with np.load(io.BytesIO(store.files.read(network["data"]))) as given:
        rows = np.flatnonzero(given["__split__"] == 2)
        wanted = {name: given[name][rows] for name in given.files}
    with zipfile.ZipFile(path) as archive, np.load(io.BytesIO(archive.read("holdout.npz"))) as kept:
        assert set(kept.files) == set(wanted)
        for name, array in wanted.items():
            assert np.array_equal(kept[name], array), name


def test_the_same_candidate_gives_the_same_bytes(store: Workspace, built: dict[str, Any], tmp_path: Path) -> None:
    first, second = (bundle_candidate(store, built["candidate"], out=tmp_path / name) for name in ("a.o3", "b.o3"))
    assert first.read_bytes() == second.read_bytes()


def test_data_and_original_are_left_out_when_asked(store: Workspace, built: dict[str, Any], tmp_path: Path) -> None:
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3", data=False, original=False)
    assert not members(path) & {"holdout.npz", "original.onnx"}
    with load_bundle(path) as opened:
        assert opened.member_path("holdout.npz") is None
        assert opened.manifest.why_without("original.onnx") == "it was asked for without the original"


def test_a_large_original_is_left_out_with_its_size(
    store: Workspace, built: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundling, "MOST_ORIGINAL_BYTES", 1000)
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3")
    with load_bundle(path) as opened:
        assert "takes originals up to" in opened.manifest.why_without("original.onnx")


def test_synthetic_samples_go_along_and_are_called_so(
    store: Workspace, network: dict[str, Any], unprobed: None, tmp_path: Path
) -> None:
    params = {**network, "data": None, "data_name": None, "recipe": INT8, "measure": False}
    document = build(store, params, Silent())
    path = bundle_candidate(store, document["candidate"], out=tmp_path / "x.o3")
    assert "holdout.npz" in members(path)
    with load_bundle(path) as opened:
        assert opened.manifest.data["synthetic"] is True


def test_weights_in_other_files_are_beside_the_model_and_inside_the_original(
    store: Workspace, network: dict[str, Any], unprobed: None, tmp_path: Path
) -> None:
    model = onnx.load(io.BytesIO(store.files.read(network["model"])))
    onnx.save(model, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    files = {name: tmp_path / name for name in ("m.onnx", "w.bin")}
    sha256 = store.files.put_folder(files, main="m.onnx")
    document = build(
        store, {**network, "model": sha256, "recipe": {"version": 1, "rules": []}, "measure": False}, Silent()
    )
    path = bundle_candidate(store, document["candidate"], out=tmp_path / "x.o3")
    with load_bundle(path) as opened:
        feed = np.ones((1, 3, 16, 16), np.float32)
        assert opened.run({"x": feed})["y"].shape == (1, 10)
        assert opened.manifest.original_inlined
        kept = opened.member_path("original.onnx")
        assert kept is not None
        alone = onnx.load(kept, load_external_data=False)
        assert all(tensor.data_location == onnx.TensorProto.DEFAULT for tensor in alone.graph.initializer)


def test_a_candidate_without_its_file_cannot_be_taken_away(
    store: Workspace, built: dict[str, Any], tmp_path: Path
) -> None:
    store.files.remove(built["file"])
    with pytest.raises(NotFoundError, match="no longer has the file of the candidate 'all int8'"):
        bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3")


def test_the_task_keeps_the_bundle_as_a_file_of_the_workspace(store: Workspace, built: dict[str, Any]) -> None:
    document = bundle(store, {"candidate": built["candidate"]}, Silent())
    assert store.files.stat(document["file"]).size_bytes == document["bytes"]
    with load_bundle(store.files.path(document["file"])) as opened:
        assert opened.manifest.name == "all int8"
    with pytest.raises(RequestError, match="candidate"):
        bundle(store, {}, Silent())
    with pytest.raises(NotFoundError):
        bundle(store, {"candidate": "nothing"}, Silent())


def test_the_script_in_it_runs_with_onnxruntime_alone(store: Workspace, built: dict[str, Any], tmp_path: Path) -> None:
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "out")
    script = tmp_path / "out" / "run.py"
    done = subprocess.run([sys.executable, "-I", str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "output y (1, 10)" in done.stdout


def test_the_report_is_the_document_that_was_printed(
    store: Workspace, network: dict[str, Any], unprobed: None, tmp_path: Path
) -> None:
    params = {**network, "recipe": INT8, "name": "all int8", "time_budget_s": 0.3, "target": "sqnr>=5"}
    printed = json.loads(json.dumps(run_task(store, "build", params, Silent())))
    with load_bundle(bundle_candidate(store, printed["candidate"], out=tmp_path / "x.o3")) as opened:
        kept = opened.report
    apart = ("seconds", "output", "output_data")
    assert {key: kept[key] for key in kept if key not in apart} == {
        key: printed[key] for key in printed if key not in apart
    }
    assert kept["seconds"] <= printed["seconds"]
    assert (kept["output"], kept["output_data"]) == (None, None)
