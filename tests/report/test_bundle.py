"""A bundle runs as its model does, is read without trust, and whatever was changed in it is named."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.errors import BundleError, DataError, MixdeskError
from core.report.bundle import load_bundle
from core.report.manifest import MANIFEST
from tests.report.bundles import NETWORK, edit_json, forge, make_bundle, network, rewrite

X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]], np.float32)
MEMBERS = (
    *("README.md", "run.py", "model.onnx", "recipe.json", "plan.json", "report.json", "report.html"),
    *("holdout.npz", "original.onnx"),
)


def refusal(act: Callable[[], object]) -> MixdeskError:
    with pytest.raises(MixdeskError) as refused:
        act()
    assert refused.value.exit_status == 2
    return refused.value


def test_a_bundle_runs_as_its_model_does(tmp_path: Path) -> None:
    with load_bundle(make_bundle(tmp_path)) as bundle:
        assert np.array_equal(bundle.run({"x": X})["y"], [[1, 2], [8, 10]])
        assert bundle.run({"x": X[:1]})["y"].shape == (1, 2)
        assert bundle.recipe == {"version": 1, "rules": []}
        assert bundle.plan["version"] == 1
        assert bundle.report["model"] == "network"
        assert bundle.model_bytes == network()
        assert bundle.model_path.read_bytes() == network()
        assert "network" in bundle.summary()


def test_what_was_unpacked_goes_with_the_bundle(tmp_path: Path) -> None:
    with load_bundle(make_bundle(tmp_path)) as bundle:
        folder = bundle.model_path.parent
        assert folder.is_dir()
    assert not folder.exists()
    thrown_away = load_bundle(tmp_path / "bundle.o3")
    folder = thrown_away.model_path.parent
    del thrown_away
    assert not folder.exists()


@pytest.mark.parametrize(
    ("feeds", "says"),
    [
        ({"z": X}, "The model has no input 'z'."),
        ({}, "The input 'x' is missing."),
        ({"x": X, "xx": X}, "The model has no input 'xx'. Did you mean 'x'?"),
    ],
)
def test_inputs_are_checked_by_name(tmp_path: Path, feeds: dict[str, object], says: str) -> None:
    with load_bundle(make_bundle(tmp_path)) as bundle, pytest.raises(DataError, match=says.replace("?", r"\?")):
        bundle.run(feeds)  # type: ignore[arg-type]


def test_a_bundle_is_opened_by_its_path() -> None:
    assert refusal(lambda: load_bundle(None)).message == "A bundle is opened by its path, not by None."  # type: ignore[arg-type]


@pytest.mark.parametrize("name", MEMBERS)
def test_every_member_that_was_changed_is_named(tmp_path: Path, name: str) -> None:
    def change(members: dict[str, bytes]) -> None:
        members[name] = bytes([members[name][0] ^ 1]) + members[name][1:]

    path = rewrite(make_bundle(tmp_path), change)
    error = refusal(lambda: load_bundle(path))
    assert error.message == f"'bundle.o3' is not as it was written: {name} was changed: its hash is another."


def test_a_longer_member_is_named_with_its_sizes(tmp_path: Path) -> None:
    path = rewrite(make_bundle(tmp_path), lambda members: members.update({"plan.json": b"{}"}))
    assert "plan.json was changed: it has 2 bytes, not" in refusal(lambda: load_bundle(path)).message


def test_a_flipped_bit_is_damage(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    content = bytearray(path.read_bytes())
    content[content.index(network()) + 30] ^= 1
    path.write_bytes(content)
    assert "model.onnx is damaged." in refusal(lambda: load_bundle(path)).message


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    def remove(members: dict[str, bytes]) -> None:
        del members[name]

    path = rewrite(make_bundle(tmp_path), remove)
    assert f"{name} is missing from the bundle." in refusal(lambda: load_bundle(path)).message


@pytest.mark.parametrize("name", ["more.bin", ".hidden"])
def test_a_member_that_was_added_is_named(tmp_path: Path, name: str) -> None:
    path = rewrite(make_bundle(tmp_path), lambda members: members.update({name: b"x"}))
    assert f"{name} was added to the bundle." in refusal(lambda: load_bundle(path)).message


def test_a_manifest_without_the_model_is_refused(tmp_path: Path) -> None:
    def forget(members: dict[str, bytes]) -> None:
        kept = [row for row in json.loads(members[MANIFEST])["members"] if row["name"] != "model.onnx"]
        edit_json(members, MANIFEST, members=kept)
        del members["model.onnx"]

    path = rewrite(make_bundle(tmp_path), forget, reseal=True)
    assert "model.onnx is missing" in refusal(lambda: load_bundle(path)).message


def _external(location: str) -> bytes:
    model = onnx.parser.parse_model(NETWORK)
    weight = model.graph.initializer[0]
    values = np.array(weight.float_data, np.float32).tobytes()
    weight.ClearField("float_data")
    weight.raw_data = values
    onnx.external_data_helper.set_external_data(weight, location)
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    return bytes(model.SerializeToString())


WEIGHTS = np.arange(1, 7, dtype=np.float32).tobytes()


def test_weights_in_other_files_lie_beside_the_model(tmp_path: Path) -> None:
    model = {"model.onnx": _external("deep/w.bin"), "deep/w.bin": WEIGHTS}
    with load_bundle(make_bundle(tmp_path, model=model)) as bundle:
        assert bundle.manifest.external == ("deep/w.bin",)
        assert np.array_equal(bundle.run({"x": X})["y"], [[1, 2], [8, 10]])


def test_weights_outside_the_bundle_are_never_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(WEIGHTS)
    path = make_bundle(tmp_path, model={"model.onnx": _external(str(tmp_path / "secret.bin"))})
    with load_bundle(path) as bundle:
        error = refusal(lambda: bundle.run({"x": X}))
    assert isinstance(error, BundleError)
    assert "cannot be run here" in error.message
    assert "outside" in error.message


def test_a_weight_file_with_the_name_of_a_member_is_refused_when_writing(tmp_path: Path) -> None:
    model = {"model.onnx": _external("Report.json"), "Report.json": WEIGHTS}
    error = refusal(lambda: make_bundle(tmp_path, model=model))
    assert "'Report.json', which a bundle needs for itself" in error.message


def test_a_model_that_this_runtime_refuses_names_the_runtime_that_ran_it(tmp_path: Path) -> None:
    broken = NETWORK.replace("MatMul", "MatMulOfTomorrow")
    model = {"model.onnx": bytes(onnx.parser.parse_model(broken).SerializeToString())}
    with load_bundle(make_bundle(tmp_path, model=model)) as bundle:
        error = refusal(lambda: bundle.run({"x": X}))
    assert "The model of 'bundle.o3' cannot be run here" in error.message
    assert "onnxruntime 1.32.0" in str(error.hint)


def test_a_member_that_is_no_json_is_damage(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("recipe.json").file_size

    def change(members: dict[str, bytes]) -> None:
        members["recipe.json"] = b"x" * size
        rows = json.loads(members[MANIFEST])["members"]
        digest = hashlib.sha256(members["recipe.json"]).hexdigest()
        edit_json(
            members,
            MANIFEST,
            members=[{**row, "sha256": digest} if row["name"] == "recipe.json" else row for row in rows],
        )

    rewrite(path, change, reseal=True)
    assert "recipe.json is not JSON" in refusal(lambda: load_bundle(path)).message


def test_missing_instructions_are_told_and_it_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.report.bundle.cpu_features", lambda: ("avx2",))
    with load_bundle(make_bundle(tmp_path, rests_on=("avx512_vnni", "avx2"))) as bundle:
        assert "measured with avx512_vnni, which this machine does not have" in bundle.summary()
        assert bundle.run({"x": X})["y"].shape == (2, 2)


def test_nothing_in_a_bundle_is_executed(tmp_path: Path) -> None:
    trap = f"open({str(tmp_path / 'sprung')!r}, 'w').write('x')\n".encode()

    def set_trap(members: dict[str, bytes]) -> None:
        members["run.py"] = trap
        rows = [row for row in json.loads(members[MANIFEST])["members"] if row["name"] != "run.py"]
        rows.append({"name": "run.py", "sha256": hashlib.sha256(trap).hexdigest(), "bytes": len(trap)})
        edit_json(members, MANIFEST, members=rows)

    path = rewrite(make_bundle(tmp_path), set_trap, reseal=True)
    with load_bundle(path) as bundle:
        bundle.run({"x": X})
        bundle.summary()
    assert not (tmp_path / "sprung").exists()


def test_what_does_not_fit_an_input_is_one_clear_line(tmp_path: Path) -> None:
    with load_bundle(make_bundle(tmp_path)) as bundle:
        for given in ([X], None, {"x": X[0]}, {"x": X.astype(np.int64)}, {"x": None}):
            with pytest.raises(DataError, match=r"takes") as refused:
                bundle.run(given)  # type: ignore[arg-type]
            assert "\n" not in refused.value.message


def test_a_closed_bundle_says_so(tmp_path: Path) -> None:
    bundle = load_bundle(make_bundle(tmp_path))
    bundle.run({"x": X})
    bundle.close()
    bundle.close()
    acts: tuple[Callable[[], object], ...] = (
        lambda: bundle.run({"x": X}),
        lambda: bundle.model_bytes,
        lambda: bundle.model_path,
        lambda: bundle.files,
        lambda: bundle.member_path("holdout.npz"),
    )
    for act in acts:
        assert refusal(act).message == "The bundle 'bundle.o3' is closed."


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda report: {}, "'conditions' is missing"),
        (lambda report: [], "report.json is no JSON object"),
        (lambda report: report.update(speedup="fast"), "'speedup' is a text, not an object"),
        (lambda report: report.update(speedup={"ratio": "fast"}), "'speedup.ci95' is missing"),
        (lambda report: report.update(speedup={"ratio": "2", "ci95": [1, 2]}), "'speedup.ratio' is a text"),
        (lambda report: report.update(speedup={"ratio": 2, "ci95": [1]}), "'speedup.ci95' is no interval"),
        (lambda report: report.update(comparison={"latency": []}), "'comparison.size' is missing"),
        (lambda report: report.update(layers=[1]), "'layers[0]' is a number, not an object"),
        (lambda report: report.update(conditions=None), "'conditions' is null, not an object"),
        (lambda report: report.update(target={"text": "x", "met": "yes"}), "'target.met' is a text, not true or false"),
    ],
)
def test_a_report_of_wrong_parts_is_refused(tmp_path: Path, change: Callable[[Any], Any], says: str) -> None:
    path = forge(make_bundle(tmp_path), change)
    error = refusal(lambda: load_bundle(path))
    assert isinstance(error, BundleError)
    assert says in error.message
