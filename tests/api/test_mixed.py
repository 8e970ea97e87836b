"""A mixed model runs, tells what was measured, and is written in the form that the file's name asks for."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core import Mixed, build_model, convert_model, load_bundle
from core.errors import DataError, RequestError, RunError

pytestmark = pytest.mark.xdist_group("timing")


@pytest.fixture
def built(here: Path, network: onnx.ModelProto, arrays: dict[str, Any]) -> Mixed:
    """The small network in int8, not measured."""
    return build_model(network, precision="int8", data=arrays, measure=False, name="small")


def test_it_runs_and_is_close_to_the_original(built: Mixed, network: onnx.ModelProto, arrays: dict[str, Any]) -> None:
    feed = {"x": arrays["x"][:2]}
    reference = onnx.reference.ReferenceEvaluator(network).run(["y"], feed)[0]  # type: ignore[index]
    got = built.run(feed)["y"]
    assert got.shape == (2, 4)
    assert np.abs(got - reference).max() < 0.1


def test_wrong_feeds_are_named(built: Mixed, arrays: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="'x' is missing"):
        built.run({})
    with pytest.raises(DataError, match="no input 'xx'"):
        built.run({"xx": arrays["x"][:1]})
    with pytest.raises(RunError):
        built.run({"x": arrays["x"][:1, :2]})


def test_what_was_measured_is_at_hand(here: Path, network: onnx.ModelProto, arrays: dict[str, Any]) -> None:
    mixed = convert_model(network, precision="int8", target="sqnr>=199", data=arrays, time_budget_s=1)
    assert mixed.unchanged
    assert mixed.speedup is not None
    assert mixed.speedup["ratio"] == 1
    assert mixed.fidelity["sqnr_db"] == 200
    assert mixed.target is not None
    assert mixed.target["met"] is True
    assert mixed.accuracy is not None
    assert list(mixed.front["latency_ms"]) == list(mixed.sensitivity["group"]) == []
    assert mixed.recipe.rules == ()
    assert list(mixed.layers.index) == list(mixed.plan.index) == ["conv", "relu", "pool", "flat", "head"]
    assert "unchanged" in mixed.summary()
    assert str(mixed.why) in mixed.summary()


def test_the_summary_tells_how_many_layers_and_why_not_the_others(built: Mixed) -> None:
    lowered = (built.layers["produced"] != "fp32").sum()
    assert f"{lowered} of 5 lowered" in built.summary()
    assert "not measured" in built.summary()
    assert (built.speedup, built.unchanged, built.why) == (None, False, None)


def test_each_suffix_writes_its_form(built: Mixed, arrays: dict[str, Any], tmp_path: Path) -> None:
    onnx.checker.check_model(onnx.load(built.save(tmp_path / "m.onnx")))
    recipe = json.loads(built.save(tmp_path / "m.json").read_text())
    assert [layer["id"] for layer in recipe["made_for"]["layers"]] == list(built.layers.index)
    assert "<html" in built.save(tmp_path / "m.html").read_text().lower()
    with built.save(tmp_path / "m.csv").open() as file:
        assert [row["id"] for row in csv.DictReader(file)] == list(built.layers.index)
    feed = {"x": arrays["x"][:1]}
    with load_bundle(built.save(str(tmp_path / "m.o3"))) as bundle:
        assert np.array_equal(bundle.run(feed)["y"], built.run(feed)["y"])


def test_a_bundle_may_leave_data_and_original_out(built: Mixed, tmp_path: Path) -> None:
    whole = zipfile.ZipFile(built.save(tmp_path / "whole.o3")).namelist()
    bare = zipfile.ZipFile(built.save(tmp_path / "bare.o3", data=False, original=False)).namelist()
    assert {"holdout.npz", "original.onnx"} <= set(whole)
    assert not {"holdout.npz", "original.onnx"} & set(bare)


@pytest.mark.parametrize(("name", "says"), [("m.bin", "End the name in"), ("m", "End the name in")])
def test_a_name_that_says_nothing_is_refused(built: Mixed, tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(RequestError) as refused:
        built.save(tmp_path / name)
    assert says in str(refused.value.hint)


def test_a_folder_that_is_not_there_is_refused(built: Mixed, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no folder"):
        built.save(tmp_path / "nowhere" / "m.onnx")
