"""The bundled samples: complete, licensed, runnable, split without overlap, and as right as their README says."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest

from tests.conftest import SAMPLES

NAMES = ("digits-cnn", "ppocr-cls", "silero-vad")
CALIBRATION, EVALUATION, HOLDOUT = range(3)


def catalogue() -> dict[str, dict[str, Any]]:
    entries = json.loads((SAMPLES / "catalogue.json").read_text(encoding="utf-8"))["samples"]
    return {entry["name"]: entry for entry in entries}


def arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(SAMPLES / catalogue()[name]["data"], allow_pickle=False) as data:
        return {key: data[key] for key in data.files}


def session(name: str) -> ort.InferenceSession:
    return ort.InferenceSession(SAMPLES / catalogue()[name]["model"], providers=["CPUExecutionProvider"])


def feed(opened: ort.InferenceSession, data: dict[str, np.ndarray], index: int) -> dict[str, np.ndarray]:
    """Sample i: an array of one dimension more than the input is indexed, one of equal rank is sliced."""
    return {
        spec.name: np.asarray(data[spec.name][index])
        if data[spec.name].ndim > len(spec.shape)
        else data[spec.name][index : index + 1]
        for spec in opened.get_inputs()
    }


def right(name: str, split: int) -> tuple[int, int]:
    """How many samples of a split the model answers as labelled, and how many there are."""
    opened, data = session(name), arrays(name)
    chosen = np.flatnonzero(data["__split__"] == split)
    answers = [opened.run(None, feed(opened, data, int(i)))[0].argmax() for i in chosen]
    return int(np.sum(np.array(answers) == data["y"][chosen])), len(chosen)


def test_the_catalogue_lists_the_samples_and_their_files_exist() -> None:
    assert tuple(catalogue()) == NAMES
    for entry in catalogue().values():
        assert (SAMPLES / entry["model"]).is_file()
        assert (SAMPLES / entry["data"]).is_file()
        assert all(entry[key] for key in ("task", "licence", "origin", "shows"))


def test_every_sample_is_described_in_the_readme_and_small() -> None:
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    for entry in catalogue().values():
        assert f"## {entry['name']}" in text
        assert (SAMPLES / entry["model"]).stat().st_size < 12_000_000
        assert (SAMPLES / entry["data"]).stat().st_size < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_loads_and_its_data_runs(name: str) -> None:
    opened, data = session(name), arrays(name)
    onnx.checker.check_model(str(SAMPLES / catalogue()[name]["model"]))
    for index in (0, len(data["__split__"]) - 1):
        for output in opened.run(None, feed(opened, data, index)):
            assert np.isfinite(output).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_split_has_samples_and_none_is_in_two(name: str) -> None:
    data = arrays(name)
    splits = data["__split__"]
    assert set(splits.tolist()) == {CALIBRATION, EVALUATION, HOLDOUT}
    names = [spec.name for spec in session(name).get_inputs()]
    seen: dict[bytes, int] = {}
    for index, split in enumerate(splits.tolist()):
        content = b"".join(data[key][index].tobytes() for key in names)
        assert seen.setdefault(content, split) == split


def test_digits_cnn_is_right_on_98_of_100_holdout_samples() -> None:
    correct, samples = right("digits-cnn", HOLDOUT)
    assert samples >= 360
    assert correct / samples >= 0.98


def test_digits_cnn_is_not_trained_on_what_it_ships_and_ships_no_image_twice() -> None:
    images = arrays("digits-cnn")["image"]
    assert len(np.unique(images.reshape(len(images), -1), axis=0)) == len(images)
    assert [int(np.sum(arrays("digits-cnn")["__split__"] == split)) for split in range(3)] == [128, 200, 400]


def test_the_shipped_digits_are_those_that_make_py_holds_back() -> None:
    train, shipped = runpy.run_path(str(SAMPLES / "make.py"))["split_digits"]()
    for key, array in arrays("digits-cnn").items():
        np.testing.assert_array_equal(array, shipped[key])
    trained_on = {image.tobytes() for image in train["image"]}
    assert not any(image.tobytes() in trained_on for image in shipped["image"])


def test_digits_cnn_names_its_weights_after_their_modules_and_holds_nothing_superfluous() -> None:
    graph = onnx.load(SAMPLES / "digits-cnn.onnx").graph
    assert {node.op_type for node in graph.node} == {"Conv", "Relu", "Add", "GlobalAveragePool", "Flatten", "Gemm"}
    assert all(node.name.startswith("/") for node in graph.node)
    used = [name for node in graph.node for name in node.input]
    for initializer in graph.initializer:
        assert used.count(initializer.name) == 1
        assert initializer.name.rsplit(".", 1)[1] in {"weight", "bias"}
    assert 2_700_000 < sum(int(np.prod(initializer.dims)) for initializer in graph.initializer) < 2_900_000


def test_ppocr_cls_keeps_a_line_and_its_turned_twin_in_one_split() -> None:
    data = arrays("ppocr-cls")
    np.testing.assert_array_equal(data["x"][::2, :, ::-1, ::-1], data["x"][1::2])
    np.testing.assert_array_equal(data["__split__"][::2], data["__split__"][1::2])
    assert data["y"].tolist() == [0, 1] * 30


def test_ppocr_cls_has_its_weights_as_constant_nodes() -> None:
    graph = onnx.load(SAMPLES / "ppocr-cls.onnx").graph
    assert not graph.initializer
    correct, samples = right("ppocr-cls", HOLDOUT)
    assert correct / samples > 0.9


def test_silero_vad_hears_speech_and_silence_in_every_split() -> None:
    opened, data = session("silero-vad"), arrays("silero-vad")
    speech = np.array([opened.run(None, feed(opened, data, i))[0].item() for i in range(len(data["sr"]))])
    for split in (CALIBRATION, EVALUATION, HOLDOUT):
        chosen = speech[data["__split__"] == split]
        assert chosen.min() < 0.1
        assert chosen.max() > 0.9


def test_the_licence_texts_are_there() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in Path(SAMPLES / "licences").iterdir()}
    assert "Apache License" in texts["ppocr-cls-Apache-2.0.txt"]
    assert "Silero Team" in texts["silero-vad-MIT.txt"]
