"""The bundled samples: complete, licensed, runnable, split without overlap, and as right as their README says."""

from __future__ import annotations

import csv
import importlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from tokenizers import Tokenizer

from core.intake.dataset import read_dataset
from core.intake.feeds import Split
from core.intake.load import load_model
from core.intake.samples import find_sample, list_samples
from core.measure.accuracy import accuracy
from core.measure.outputs import run_outputs
from core.progress import Silent
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.registry import run_task
from tests.conftest import ROOT, SAMPLES

NAMES = ("digits-cnn", "subjectivity-text", "ppocr-cls", "ppocr-det", "silero-vad")
TEXTS = SAMPLES / "data" / "subjectivity-text"
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
    assert sum(path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()) < 45_000_000


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


def test_the_shipped_digits_are_those_that_make_py_holds_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SAMPLES))
    train, shipped = importlib.import_module("make_digits").split_digits()
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


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_profiled_without_an_error_finding(name: str, tmp_path: Path) -> None:
    sample, store = find_sample(name), Workspace.open(tmp_path)
    subject = {"model": store.files.put(sample.model), "data": store.files.put(sample.data, suffix=".npz")}
    findings = run_task(store, "inspect", subject, Silent())["findings"]
    assert [finding for finding in findings if finding["severity"] == "error"] == []
    document = run_task(store, "profile", {**subject, "runs": 1, "time_budget_s": 0.1}, Silent())
    assert document["layers"]
    assert document["wall_ms"]["median"] > 0
    assert document["attributed_share"] > 0.5


@pytest.mark.parametrize("name", [sample.name for sample in list_samples() if sample.accuracy is not None])
def test_a_labelled_sample_is_as_accurate_on_holdout_as_catalogue_and_readme_say(name: str) -> None:
    sample = find_sample(name)
    model = load_model(sample.model)
    dataset = read_dataset(sample.data, model)
    held = dataset.indices(Split.HOLDOUT)
    outputs = run_outputs(model.serialize(), dataset, held, SessionSettings())
    measured = accuracy(dataset.labels, held, outputs, outputs)
    assert sample.accuracy is not None
    assert measured.before == pytest.approx(sample.accuracy, abs=0.005)
    assert stated(name)[0] == pytest.approx(sample.accuracy, abs=0.0001)


def stated(name: str) -> list[float]:
    """The shares "x of y ... holdout samples" and what follows, as the sample's part of the README tells them."""
    text = (SAMPLES / "README.md").read_text(encoding="utf-8")
    (told,) = re.findall(r"- \*\*Accuracy\*\*:(.*?)\n- ", text.split(f"## {name}\n")[1].split("\n## ")[0], re.DOTALL)
    return [int(right) / int(samples) for right, samples in re.findall(r"(\d+) of (?:the |all )?(\d+)", told)]


def test_subjectivity_text_reaches_its_goal_and_its_baseline_stands_beside_it() -> None:
    network, _, baseline = stated("subjectivity-text")
    assert network >= 0.86
    assert 0.86 < baseline < 1
    assert (arrays("subjectivity-text")["__split__"] == HOLDOUT).sum() >= 300


def test_subjectivity_text_takes_any_batch_and_length_and_its_mask_counts() -> None:
    opened, data = session("subjectivity-text"), arrays("subjectivity-text")
    assert all(isinstance(axis, str) for spec in opened.get_inputs() for axis in spec.shape)
    ids, mask = data["input_ids"][:8], data["attention_mask"][:8]
    together = opened.run(None, {"input_ids": ids, "attention_mask": mask})[0]
    for row in range(8):
        length = int(mask[row].sum())
        feeds = {"input_ids": ids[row : row + 1, :length], "attention_mask": mask[row : row + 1, :length]}
        np.testing.assert_allclose(opened.run(None, feeds)[0][0], together[row], atol=1e-4)
    unmasked = opened.run(None, {"input_ids": ids, "attention_mask": np.ones_like(mask)})[0]
    assert np.abs(unmasked - together).max() > 0.05


def test_subjectivity_text_is_an_encoder_of_four_layers_with_readable_names() -> None:
    names = [node.name for node in onnx.load(SAMPLES / "subjectivity-text.onnx").graph.node]
    for number in range(1, 5):
        for part in ("attention/query", "attention/key", "attention/value", "attention/output", "feed/up", "feed/down"):
            assert f"/layer{number}/{part}/MatMul" in names


def test_the_tokenizer_gives_the_shipped_ids_of_the_shipped_sentences() -> None:
    sample, data = find_sample("subjectivity-text"), arrays("subjectivity-text")
    assert sample.tokenizer is not None
    tokenizer = Tokenizer.from_file(str(sample.tokenizer))
    with (TEXTS / "sentences.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["label"]) for row in rows] == data["y"].tolist()
    for row, ids, mask in zip(rows, data["input_ids"], data["attention_mask"], strict=True):
        assert tokenizer.encode(row["text"]).ids == ids[mask == 1].tolist()


def test_the_shipped_sentences_are_those_that_make_text_holds_back(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = ROOT.parent / "shared" / "data" / "subjectivity.zip"
    if not archive.is_file():
        pytest.skip("the dataset is not here")
    monkeypatch.syspath_prepend(str(SAMPLES))
    make_text = importlib.import_module("make_text")
    train, shipped, split = make_text.split_sentences(make_text.read_sentences(archive))
    with (TEXTS / "sentences.csv").open(encoding="utf-8", newline="") as file:
        assert [row["text"] for row in csv.DictReader(file)] == shipped.texts
    np.testing.assert_array_equal(split, arrays("subjectivity-text")["__split__"])
    assert not set(train.texts) & set(shipped.texts)
    held = shipped.take(np.flatnonzero(split == HOLDOUT))
    assert make_text.baseline_accuracy(train, held) == pytest.approx(stated("subjectivity-text")[2], abs=0.005)


def test_ppocr_det_finds_text_on_every_page() -> None:
    opened, data = session("ppocr-det"), arrays("ppocr-det")
    shares = [opened.run(None, {"x": page[None]})[0].round().mean() for page in data["x"]]
    assert min(shares) > 0.01
    assert max(shares) < 0.3


def test_the_drawn_pages_are_those_of_make_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SAMPLES))
    pages = importlib.import_module("make_pages").draw_pages(2, importlib.import_module("making").SEED)
    np.testing.assert_allclose(pages, arrays("ppocr-det")["x"][:2], atol=0.5)


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
    assert "Apache License" in texts["ppocr-Apache-2.0.txt"]
    assert "Silero Team" in texts["silero-vad-MIT.txt"]
