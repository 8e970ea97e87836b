"""Verify measures a bundle again: what is as it was agrees, what was forged does not, what is missing is asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from core.capability.saturation import saturable_layers
from core.errors import BundleError, NotFoundError, RequestError, TargetError
from core.intake.load import load_model
from core.measure.latency import PairedLatency
from core.progress import Silent
from core.report.bundle import load_bundle
from core.report.manifest import MANIFEST
from core.store.workspace import Workspace
from core.tasks.build import build
from core.tasks.bundle import bundle_candidate
from core.tasks.verify import verify
from tests.report.bundles import edit_json, rewrite

TIMED = PairedLatency(
    ratio=2.0,
    ci95=(1.9, 2.1),
    ratio_bound=1.9,
    before_ms=2.0,
    after_ms=1.0,
    after_bound_ms=1.1,
    before_p95_ms=2.2,
    after_p95_ms=1.1,
    batch=1,
    pairs=20,
    disturbed=0,
    samples=8,
    before_memory_bytes=1000,
    after_memory_bytes=900,
    noise_ci95=(0.99, 1.01),
)

INT8 = {"version": 1, "rules": [{"match": "*", "precision": "int8"}]}
PROFILE: dict[str, Any] = {"wall_ms": {}, "kernel_ms": 1.0, "layers": [], "buckets": {"quantize": 0.0, "cast": 0.0}}
EXACT = ("fidelity.sqnr_db", "fidelity.agreement", "accuracy.before", "accuracy.after", "size.before_bytes")


@pytest.fixture(autouse=True)
def timed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Timing in pairs is tested elsewhere: here every pair of models takes the same times."""
    monkeypatch.setattr("core.measure.compare.measure_pair", lambda *models, **options: TIMED)
    monkeypatch.setattr("core.tasks.build.profile_both", lambda *arguments, **options: (PROFILE, PROFILE))


@pytest.fixture
def candidate(store: Workspace, network: dict[str, Any], unprobed: None) -> str:
    """A candidate in int8, measured."""
    params = {**network, "recipe": INT8, "name": "all int8", "time_budget_s": 0.3, "target": "sqnr>=5"}
    return str(build(store, params, Silent())["candidate"])


@pytest.fixture
def path(store: Workspace, candidate: str, tmp_path: Path) -> Path:
    """Its bundle."""
    return bundle_candidate(store, candidate, out=tmp_path / "x.o3")


def verified(store: Workspace, path: Path, **params: Any) -> dict[str, Any]:
    return verify(store, {"bundle": str(path), "time_budget_s": 0.3, **params}, Silent())


def by_name(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["figure"]: row for row in document["figures"]}


def forge(path: Path, change: Callable[[dict[str, Any]], None], name: str = "report.json") -> Path:
    """Changes a JSON member and all hashes with it, as somebody who writes bundles could."""

    def rewritten(members: dict[str, bytes]) -> None:
        document = json.loads(members[name])
        change(document)
        members[name] = json.dumps(document).encode()
        if name != MANIFEST:
            fresh = {"sha256": hashlib.sha256(members[name]).hexdigest(), "bytes": len(members[name])}
            rows = json.loads(members[MANIFEST])["members"]
            edit_json(members, MANIFEST, members=[{**row, **fresh} if row["name"] == name else row for row in rows])

    return rewrite(path, rewritten, reseal=True)


def test_a_bundle_as_it_was_written_agrees(store: Workspace, path: Path) -> None:
    document = verified(store, path)
    found = by_name(document)
    assert document["hashes"] == "ok"
    assert [name for name in EXACT if not found[name]["agrees"]] == []
    assert found["layers.executed"]["agrees"]
    assert document["layers"] == {"checked": 5, "differ": []}
    assert document["agrees"] is True
    assert document["differences"] == []
    assert document["speedup"]["ratio"] == TIMED.ratio
    assert document["target"]["met"] is True
    assert document["machine"] == {"same": True, "stored": document["conditions"]["cpu"], "missing": []}


def test_the_workspace_knows_nothing_new_afterwards(store: Workspace, path: Path) -> None:
    before = (store.models(), store.candidates(), [file.sha256 for file in store.files.stored()])
    verified(store, path)
    assert (store.models(), store.candidates(), [file.sha256 for file in store.files.stored()]) == before


def test_an_unchanged_original_agrees_by_definition(store: Workspace, network: dict[str, Any], tmp_path: Path) -> None:
    document = build(store, {**network, "recipe": {"version": 1, "rules": []}, "time_budget_s": 0.3}, Silent())
    path = bundle_candidate(store, document["candidate"], out=tmp_path / "x.o3")
    answer = verified(store, path)
    assert answer["fidelity"]["sqnr_db"] == 200
    assert by_name(answer)["fidelity.sqnr_db"]["agrees"]


@pytest.mark.parametrize("name", ["model.onnx", "report.json", "holdout.npz", "original.onnx", "plan.json", "run.py"])
def test_a_changed_member_is_named_and_nothing_is_measured(store: Workspace, path: Path, name: str) -> None:
    rewrite(path, lambda members: members.update({name: members[name] + b" "}))
    document = verified(store, path)
    assert document["hashes"].startswith(f"{name} was changed")
    assert document["agrees"] is False
    assert document["speedup"] is None
    assert "nothing in it was measured" in document["why"]


def test_what_is_no_bundle_is_an_error(store: Workspace, tmp_path: Path) -> None:
    (tmp_path / "x.o3").write_bytes(b"text")
    with pytest.raises(BundleError, match="is no bundle"):
        verified(store, tmp_path / "x.o3")
    with pytest.raises(NotFoundError, match="There is no file"):
        verified(store, tmp_path / "nothing.o3")
    with pytest.raises(RequestError, match="'bundle'"):
        verify(store, {}, Silent())


@pytest.mark.parametrize(
    ("keys", "value", "figure"),
    [
        (("comparison", "fidelity", "sqnr_db"), 90.0, "fidelity.sqnr_db"),
        (("comparison", "accuracy", "after"), 1.0, "accuracy.after"),
        (("comparison", "latency", "ci95"), [900.0, 901.0], "speedup"),
        (("comparison", "size", "after_bytes"), 7, "size.after_bytes"),
    ],
)
def test_a_forged_figure_does_not_agree(
    store: Workspace, path: Path, keys: tuple[str, ...], value: object, figure: str
) -> None:
    def change(report: dict[str, Any]) -> None:
        place = report
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value

    forge(path, change)
    forge(path, lambda manifest: manifest.update(target=None), MANIFEST)
    document = verified(store, path)
    assert document["hashes"] == "ok"
    assert document["agrees"] is False
    assert figure in {row["figure"] for row in document["differences"]}


def test_a_layer_that_does_not_run_as_reported_is_told_and_does_not_decide(store: Workspace, path: Path) -> None:
    forge(path, lambda report: report["layers"][0].update(executed="fp8"))
    document = verified(store, path)
    assert [row["stored"] for row in document["layers"]["differ"]] == ["fp8"]
    assert by_name(document)["layers.executed"]["agrees"] is False
    assert by_name(document)["layers.executed"]["decides"] is False


def test_without_an_original_one_is_asked_for_and_only_the_right_one_is_taken(
    store: Workspace, candidate: str, network: dict[str, Any], tmp_path: Path
) -> None:
    path = bundle_candidate(store, candidate, out=tmp_path / "x.o3", original=False)
    with pytest.raises(NotFoundError, match="no original to measure against: it was asked for without") as refusal:
        verified(store, path)
    assert "--original" in str(refusal.value.hint)
    other = tmp_path / "other.onnx"
    other.write_bytes(store.files.read(store.candidate(candidate).file_sha256))
    with pytest.raises(RequestError, match="is not the original of this bundle"):
        verified(store, path, original=str(other))
    assert verified(store, path, original=network["model"])["hashes"] == "ok"


def test_without_samples_they_are_asked_for(
    store: Workspace, candidate: str, network: dict[str, Any], tmp_path: Path
) -> None:
    path = bundle_candidate(store, candidate, out=tmp_path / "x.o3", data=False)
    with pytest.raises(NotFoundError, match="no samples to measure on") as refusal:
        verified(store, path)
    assert "--data" in str(refusal.value.hint)
    document = verified(store, path, data=network["data"])
    assert document["data"]["samples"] == 8
    assert by_name(document)["fidelity.sqnr_db"]["agrees"]


def test_made_up_samples_are_made_up_again(
    store: Workspace, network: dict[str, Any], unprobed: None, tmp_path: Path
) -> None:
    params = {**network, "data": None, "data_name": None, "recipe": INT8, "time_budget_s": 0.3}
    built = build(store, params, Silent())
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3", data=False)
    document = verified(store, path)
    assert document["data"]["synthetic"] is True
    assert by_name(document)["fidelity.sqnr_db"]["agrees"]
    assert any("made up" in note for note in document["notes"])


def test_the_target_may_be_another(store: Workspace, path: Path) -> None:
    document = verified(store, path, target="sqnr>=150")
    assert (document["target"]["text"], document["target"]["met"]) == ("sqnr>=150", False)
    with pytest.raises(TargetError):
        verified(store, path, target="sqnr")


def test_other_conditions_are_told(store: Workspace, path: Path) -> None:
    document = verified(store, path, batch=2)
    assert "The report was measured with batch 1, this answer with batch 2." in document["notes"]


def test_missing_instructions_are_told_and_it_is_measured_all_the_same(store: Workspace, path: Path) -> None:
    forge(path, lambda manifest: manifest.update(rests_on=["amx_of_tomorrow"]), MANIFEST)
    document = verified(store, path)
    assert document["machine"]["missing"] == ["amx_of_tomorrow"]
    assert any("that speed cannot be expected here" in note for note in document["notes"])
    assert document["speedup"]["ratio"] > 0


def test_full_range_weights_on_a_saturating_cpu_are_told(
    store: Workspace, network: dict[str, Any], unprobed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = [{"match": "*", "precision": "int8", "options": {"reduced_range": False}}]
    built = build(store, {**network, "recipe": {"version": 1, "rules": rules}, "time_budget_s": 0.3}, Silent())
    path = bundle_candidate(store, built["candidate"], out=tmp_path / "x.o3")
    for saturating in (True, False):
        monkeypatch.setattr("core.tasks.verify.saturates", lambda settings, answer=saturating: answer)
        notes = verified(store, path)["notes"]
        assert any("saturates, and" in note for note in notes) is saturating


def test_seven_bit_weights_cannot_saturate(store: Workspace, path: Path) -> None:
    with load_bundle(path) as bundle:
        model = bundle.load_model().ir
    assert saturable_layers(model) == ()
    weights = [value for value in model.graph.initializers.values() if value.dtype == ir.DataType.INT8]
    assert any(np.abs(value.const_value.numpy().astype(int)).max() > 32 for value in weights if value.const_value)
    original = load_model(store.files.read(store.candidates()[0].model_sha256), name="network")
    assert saturable_layers(original.ir) == ()
