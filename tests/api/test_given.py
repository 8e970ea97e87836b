"""Models and data in every form become files of the workspace; what is not there is told before any job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.api.desk import Desk
from core.api.given import Subject, read_outputs, read_pins, read_preprocessing
from core.errors import DataError, MixdeskError, ModelError, NotFoundError, RequestError
from core.store.workspace import Workspace
from tests.api.conftest import Noted


@pytest.fixture
def desk(workspace_path: Path) -> Desk:
    return Desk(Workspace.open(workspace_path), watch=False)


def test_a_file_bytes_and_a_proto_are_the_same_model(desk: Desk, network: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "a model.onnx"
    path.write_bytes(network.SerializeToString())
    given = (path, str(path), path.read_bytes(), network)
    put = [Subject(model=model).put(desk) for model in given]
    assert len({params["model"] for params in put}) == 1
    assert [params["model_name"] for params in put] == ["a model", "a model", "model", "network"]
    assert put[0]["origin"] == str(path)


def test_a_sample_brings_its_data_unless_other_data_is_given(desk: Desk, arrays: dict[str, Any]) -> None:
    assert Subject(model="digits-cnn").put(desk)["data_name"] == "digits-cnn"
    assert Subject(model="digits-cnn", data=arrays).put(desk)["data_name"] == "arrays"


def test_arrays_and_feeds_of_the_same_samples_are_stored_once(
    desk: Desk, network: onnx.ModelProto, arrays: dict[str, Any]
) -> None:
    whole = Subject(model=network, data={"x": arrays["x"]}).put(desk)
    feeds = Subject(model=network, data=({"x": x} for x in arrays["x"])).put(desk)
    assert whole["data"] == feeds["data"]
    assert desk.workspace.files.has(whole["data"])


def test_without_data_the_inputs_are_synthetic(desk: Desk, network: onnx.ModelProto) -> None:
    params = Subject(model=network, shapes={"x": (1, 3, 8, 8)}, threads=2, batch=3, seed=4).put(desk)
    assert params["data"] is None
    assert params["shapes"] == {"x": [1, 3, 8, 8]}
    assert (params["threads"], params["batch"], params["seed"]) == (2, 3, 4)


def test_a_folder_of_images_becomes_data_in_a_job(
    noted: Noted, desk: Desk, network: onnx.ModelProto, tmp_path: Path
) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"a picture")
    noted.result = {"data": "abc", "name": "pictures"}
    how = {"kind": "images", "size": [8, 8]}
    params = Subject(model=network, data=folder, preprocessing=how, limit=5).put(desk)
    assert (params["data"], params["data_name"]) == ("abc", "pictures")
    kind, asked, _ = noted.asked[0]
    assert kind == "convert"
    assert (asked["source_path"], asked["limit"]) == (str(folder), 5)
    assert asked["preprocessing"]["size"] == [8, 8]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"model": "digitz-cnn"}, NotFoundError, "Did you mean 'digits-cnn'"),
        ({"model": "nowhere.onnx"}, NotFoundError, "no file 'nowhere.onnx'"),
        ({"model": Path("nowhere")}, NotFoundError, "no file 'nowhere'"),
        ({"model": 5}, ModelError, "given as int"),
        ({"model": b"", "data": "nowhere.npz"}, NotFoundError, "no data file"),
        ({"model": b"", "labels": [1]}, DataError, "labels="),
        ({"model": "digits-cnn", "labels": [1]}, DataError, "labels="),
        ({"model": b"", "limit": 3}, DataError, "limit= has nothing to work on"),
        ({"model": b"", "threads": 0}, RequestError, "threads must be a whole number"),
        ({"model": b"", "batch": 1.5}, RequestError, "batch must be a whole number"),
        ({"model": b"", "shapes": {"x": "1xa"}}, RequestError, "The shape of 'x'"),
        ({"model": b"", "outputs": {"y": "heavy"}}, RequestError, "weight of an output"),
    ],
)
def test_what_cannot_be_used_is_refused(
    desk: Desk, given: dict[str, Any], error: type[MixdeskError], says: str
) -> None:
    with pytest.raises(error, match=says):
        Subject(**given).put(desk)


def test_pins_are_layers_with_their_precision() -> None:
    assert read_pins(None) == read_pins({}) == {}
    assert read_pins({"conv": "fp32"}) == {"conv": "fp32"}
    with pytest.raises(RequestError, match="pins= cannot be"):
        read_pins(["conv"])  # type: ignore[arg-type]


def test_outputs_are_given_by_name_or_with_weights() -> None:
    assert read_outputs(None) == {}
    assert read_outputs("a") == {"a": 1.0}
    assert read_outputs(["a", "b"]) == {"a": 1.0, "b": 1.0}
    assert read_outputs({"a": 2}) == {"a": 2.0}


def test_a_preprocessing_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "how.json"
    path.write_text(json.dumps({"kind": "images", "size": [8, 8]}))
    assert read_preprocessing(path)["size"] == [8, 8]
    path.write_text(json.dumps({"kind": "images", "size": [8, 8], "guessed": ["the size"]}))
    assert read_preprocessing(path)["guessed"] == []
    with pytest.raises(NotFoundError):
        read_preprocessing(tmp_path / "nowhere.json")
    path.write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        read_preprocessing(path)


def test_arrays_of_numpy_are_labelled(desk: Desk, network: onnx.ModelProto, arrays: dict[str, Any]) -> None:
    params = Subject(model=network, data={"x": arrays["x"]}, labels=np.arange(24) % 4).put(desk)
    with np.load(desk.workspace.files.path(params["data"])) as archive:
        assert sorted(archive.files) == ["x", "y"]
