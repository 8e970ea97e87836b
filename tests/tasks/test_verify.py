"""Verify measures a bundle again: what is as it was agrees, what was forged does not, what is missing is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
from tests.report.bundles import forge, rewrite

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


BUSY = replace(TIMED, disturbed_kept=True)


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """Says what the measurements from now on find, one after the other; the answer grows by each one's seed."""

    def script(*found: PairedLatency) -> list[int]:
        left, seeds = list(found), list[int]()

        def measured(*models: Any, **options: Any) -> PairedLatency:
            seeds.append(options["seed"])
            return left.pop(0)

        monkeypatch.setattr("core.measure.compare.measure_pair", measured)
        return seeds

    return script


def timed_as(ratio: float, low: float, high: float) -> PairedLatency:
    return replace(TIMED, ratio=ratio, ci95=(low, high), ratio_bound=low)


def test_on_a_busy_machine_the_speedup_does_not_decide_and_the_answer_says_so(
    store: Workspace, path: Path, measure: Callable[..., list[int]]
) -> None:
    seeds = measure(replace(BUSY, ratio=0.5, ci95=(0.4, 0.6)))
    document = verified(store, path)
    figure = by_name(document)["speedup"]
    assert (document["agrees"], figure["agrees"], figure["decides"]) == (True, None, False)
    assert len(seeds) == 1
    said = "The speed-up could not be judged: the machine was too busy to time well."
    assert document["why"].endswith(said)
    assert any(note.startswith(said[:-1]) for note in document["notes"])


def test_a_report_of_a_busy_machine_does_not_decide_by_its_speedup(
    store: Workspace, path: Path, measure: Callable[..., list[int]]
) -> None:
    measure(timed_as(0.5, 0.4, 0.6))
    forge(path, lambda report: report["comparison"]["latency"].update(trustworthy=False))
    document = verified(store, path)
    assert document["agrees"] is True
    assert "when the report was measured" in document["why"]


def test_a_busy_machine_hides_no_other_difference(
    store: Workspace, path: Path, measure: Callable[..., list[int]]
) -> None:
    measure(BUSY)
    forge(path, lambda report: report["comparison"]["accuracy"].update(after=0.99))
    forge(path, lambda report: report["accuracy"].update(after=0.99))
    document = verified(store, path)
    assert document["agrees"] is False
    assert [row["figure"] for row in document["differences"]] == ["accuracy.after"]


@pytest.mark.parametrize(
    ("target", "each"),
    [
        ("speedup>=50x", [None]),
        ("sqnr>=5, latency<=0.001ms", [True, None]),
        ("speedup>=1x, sqnr>=150", [None, False]),
    ],
)
def test_conditions_on_time_are_not_judged_on_a_busy_machine(
    store: Workspace, path: Path, measure: Callable[..., list[int]], target: str, each: list[bool | None]
) -> None:
    measure(BUSY)
    document = verified(store, path, target=target)
    met = next((row for row in each if row is not None), None)
    assert document["target"]["met"] is met
    assert [row["met"] for row in document["target"]["each"]] == each
    if met:
        assert "what could be judged of the target is met" in document["why"]


def test_intervals_apart_are_measured_once_more_and_judged_by_the_span(
    store: Workspace, path: Path, measure: Callable[..., list[int]]
) -> None:
    seeds = measure(timed_as(1.5, 1.4, 1.6), timed_as(1.9, 1.8, 1.95))
    document = verified(store, path)
    assert len(set(seeds)) == 2
    assert document["agrees"] is True
    assert document["speedup"]["ci95"] == [1.4, 1.95]
    (note,) = [note for note in document["notes"] if "measured twice" in note]
    assert "1.50x [1.40–1.60x], then 1.90x [1.80–1.95x]" in note


def test_two_measurements_apart_from_the_report_differ(
    store: Workspace, path: Path, measure: Callable[..., list[int]]
) -> None:
    measure(timed_as(1.5, 1.4, 1.6), timed_as(1.6, 1.5, 1.7))
    document = verified(store, path)
    assert document["agrees"] is False
    assert [row["figure"] for row in document["differences"]] == ["speedup"]


def test_a_second_measurement_on_a_machine_grown_busy_decides_nothing(
    store: Workspace, path: Path, measure: Callable[..., list[int]]
) -> None:
    measure(timed_as(1.5, 1.4, 1.6), BUSY)
    document = verified(store, path)
    assert document["agrees"] is True
    assert by_name(document)["speedup"]["agrees"] is None


@pytest.mark.parametrize(
    ("change", "figure"),
    [
        (lambda report: report.update(speedup={**report["comparison"]["latency"], "ratio": 9.0}), "speedup.ratio"),
        (lambda report: report.update(size={"before_bytes": 1, "after_bytes": 1}), "size.before_bytes"),
        (lambda report: report["fidelity"].update(sqnr_db=99.0), "fidelity.sqnr_db"),
        (lambda report: report["accuracy"].update(after=1.5), "accuracy.after"),
    ],
)
def test_a_report_that_contradicts_itself_is_found(
    store: Workspace, path: Path, change: Callable[[Any], None], figure: str
) -> None:
    forge(path, change)
    document = verified(store, path)
    assert document["hashes"] == "ok"
    assert document["agrees"] is False
    assert f"report.{figure}" in {row["figure"] for row in document["differences"]}
    assert f"the report contradicts itself in {figure}" in document["why"]
