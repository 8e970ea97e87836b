"""Inspect, profile, compare and the machine answer with the command line's documents and with frames."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from core import compare_models, inspect_model, profile_model, read_machine, verify_bundle
from core.api.answers import Inspection, Profile
from core.errors import DataError, NotFoundError, RequestError
from tests.api.conftest import Noted
from tests.report.profiles import inspection, profile

pytestmark = pytest.mark.xdist_group("timing")


def test_an_inspection_has_frames_of_layers_and_groups(here: Path, network: onnx.ModelProto) -> None:
    found = inspect_model(network)
    assert list(found.layers.index) == ["conv", "relu", "pool", "flat", "head"]
    assert found.layers.loc["conv", "op"] == "Conv"
    assert found.ops["Gemm"] == 1
    assert found.groups.loc["conv", "layers"] == ["conv", "relu"]
    assert found.model["parameters"] == 8 * 27 + 32
    assert list(found.findings["message"]) == list(found.repairs["what"]) == []
    assert "5 layers in" in found.summary()


def test_a_profile_has_a_frame_whose_milliseconds_add_up(
    here: Path, network: onnx.ModelProto, arrays: dict[str, Any]
) -> None:
    found = profile_model(network, data=arrays, runs=5)
    assert found.layers["ms"].sum() + sum(found.buckets.values()) == pytest.approx(found.document["kernel_ms"])
    assert found.wall_ms["median"] > 0
    assert found.memory["activation_peak_bytes"] > 0
    assert "median" in str(found)
    assert "slowest" in found.summary()


def test_growth_has_a_frame_with_a_column_for_each_shape(here: Path, network: onnx.ModelProto) -> None:
    named = {"one": {"x": (1, 3, 8, 8)}, "many": {"x": (64, 3, 8, 8)}}
    found = profile_model(network, runs=3, named_shapes=named)
    assert list(found.growth.columns) == ["one", "many", "exponent"]
    assert list(found.growth.index) == list(found.layers.index)
    one, many = (found.growth[name].to_dict()["conv"] for name in ("one", "many"))
    assert many > one
    with pytest.raises(DataError, match="At 'one': The model has no input 'z'"):
        profile_model(network, named_shapes={**named, "one": {"z": (1,)}})


def test_a_profile_without_named_shapes_has_an_empty_frame_of_growth() -> None:
    assert list(Profile(profile()).growth.columns) == ["exponent"]


def test_a_profile_is_saved_for_other_programs(tmp_path: Path) -> None:
    found, known = Profile(profile()), Inspection(inspection())
    assert found.save_csv(tmp_path / "layers.csv").read_text(encoding="utf-8").startswith("layer,group,op,time_ms")
    trace = json.loads(found.save_trace(tmp_path / "run.json", name="m").read_text(encoding="utf-8"))
    assert trace["otherData"]["model"] == "m"
    netron = json.loads(found.save_netron(tmp_path / "netron.json", known).read_text(encoding="utf-8"))
    assert netron["signature"] == "netron:attachment"
    explorer = json.loads(found.save_model_explorer(tmp_path / "data.json", known).read_text(encoding="utf-8"))
    assert "conv" in explorer["main_graph"]["results"]


@pytest.mark.parametrize(("name", "says"), [("run.txt", r"does not end in \.json"), ("none/run.json", "no folder")])
def test_where_a_profile_cannot_be_saved_is_told(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        Profile(profile()).save_trace(tmp_path / name)


def test_a_comparison_of_a_model_with_itself_sees_no_worse(
    here: Path, network: onnx.ModelProto, arrays: dict[str, Any]
) -> None:
    found = compare_models(network, network.SerializeToString(), data=arrays, target="sqnr>=100", time_budget_s=0.3)
    assert found.fidelity["sqnr_db"] == 200
    assert found.gate is not None
    assert found.gate["met"] is True
    assert found.verdict in {"better", "no difference seen", "worse", "too noisy"}
    assert found.speedup["ratio"] == found.ratio["latency"]["value"]
    assert found.accuracy is not None
    assert "interval" in found.summary()


def test_the_machine_is_asked_once(noted: Noted) -> None:
    row = {"op": "Conv", "precision": "int8", "state": "executed"}
    fastest = {"gflops": {"fp32": 160.0}, "gbytes_per_s": 20.0}
    noted.result = {"machine": {"cpu": "a CPU", "cores": 2}, "capability": [row], "roofline": fastest}
    found = read_machine(threads=2)
    assert noted.params["threads"] == 2
    assert found.capability["state"].tolist() == ["executed"]
    assert found.roofline["gbytes_per_s"] == 20.0
    assert found.machine["cpu"] == "a CPU"


def test_a_bundle_is_verified_in_a_job(noted: Noted, tmp_path: Path) -> None:
    path = tmp_path / "a.o3"
    path.write_bytes(b"a bundle")
    noted.result = {"agrees": False, "hashes": "ok", "differences": [{"metric": "sqnr", "stored": 30, "measured": 20}]}
    found = verify_bundle(path, original="model.onnx", time_budget_s=2)
    assert noted.asked[0][0] == "verify"
    assert noted.params["bundle"] == str(path)
    assert noted.params["original"] == str(Path("model.onnx").resolve())
    assert found.agrees is False
    assert found.differences[0]["metric"] == "sqnr"
    with pytest.raises(NotFoundError, match="no bundle"):
        verify_bundle(tmp_path / "nowhere.o3")
