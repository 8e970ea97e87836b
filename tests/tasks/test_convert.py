from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import DataError, NotFoundError, RequestError
from core.intake.dataset import read_dataset
from core.intake.load import load_model
from core.progress import Silent
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.registry import run_task
from tests.intake.sources import pixels, png, tokenizer, write_folder, write_zip
from tests.intake.texts import to_bytes

FILES = {f"{number % 10}_{number}.png": png(pixels(20, 20, seed=number)) for number in range(8)}
DECLARED = {"kind": "images", "size": [16, 16], "scale": "1/255", "labels": "prefix"}


def convert(store: Workspace, network: dict[str, Any], **params: Any) -> dict[str, Any]:
    return run_task(store, "convert", {**network, "data": None, **params}, Silent())


def test_a_stored_zip_becomes_data_that_the_next_task_takes(
    store: Workspace, network: dict[str, Any], tmp_path: Path
) -> None:
    source = store.files.put(write_zip(tmp_path / "photos.zip", FILES), suffix=".zip")
    made = convert(store, network, source=source, source_name="photos.zip", preprocessing=DECLARED)
    assert (made["name"], made["samples"], made["labels"], made["remarks"]) == ("photos", 8, True, [])
    assert made["preprocessing"]["input"] == "x"
    assert store.dataset(made["data"]).name == "photos"
    seen = run_task(store, "inspect", {**network, "data": made["data"], "data_name": "photos"}, Silent())
    assert seen["data"]["preprocessing"] == made["preprocessing"]
    assert (seen["data"]["samples"], seen["data"]["labels"], seen["data"]["synthetic"]) == (8, True, False)


def test_without_a_preprocessing_one_is_proposed_and_told(
    store: Workspace, network: dict[str, Any], tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "photos", FILES)
    made = convert(store, network, source_path=str(folder), limit=4)
    assert made["samples"] == 4
    assert made["preprocessing"]["size"] == [16, 16]
    assert made["remarks"][0].startswith("The preprocessing was guessed: ")
    assert "ImageNet" in made["remarks"][0]


def test_sizes_of_a_proposal_are_those_that_run(store: Workspace, tmp_path: Path) -> None:
    weights = ", ".join(["0"] * (3 * 32 * 100))
    model = to_bytes(
        f"g (float[n,3,h,w] x) => (float[n,1] y) <float[9600,1] k = {{{weights}}}>"
        " { f = Flatten (x) y = MatMul (f, k) }"
    )
    files = {"a.png": png(pixels(20, 40)), "b.png": png(pixels(30, 40))}
    made = convert(store, {"model": store.files.put(model)}, source_path=str(write_folder(tmp_path / "f", files)))
    assert made["preprocessing"]["size"] == [32, 100]


def test_texts_need_the_tokenizer_that_is_named(store: Workspace, tmp_path: Path) -> None:
    model = store.files.put(to_bytes("g (int64[b,s] input_ids) => (int64[b,s] y) { y = Identity (input_ids) }"))
    source = write_folder(tmp_path / "data", {"t.csv": b"text,label\ngood,1\nbad,0\n"}) / "t.csv"
    with pytest.raises(DataError, match="no tokenizer"):
        convert(store, {"model": model}, source_path=str(source))
    path = tokenizer(tmp_path / "tokenizer.json")
    for named in ({"tokenizer_path": str(path)}, {"tokenizer": store.files.put(path, suffix=".json")}):
        made = convert(store, {"model": model}, source_path=str(source), **named)
        assert (made["samples"], made["labels"]) == (2, True)


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({}, RequestError),
        ({"source": "0" * 64}, NotFoundError),
        ({"source_path": "/nowhere/at/all"}, NotFoundError),
        ({"source_path": "/", "preprocessing": "images"}, RequestError),
        ({"source_path": "/", "preprocessing": {"kind": "video"}}, DataError),
    ],
)
def test_what_is_missing_or_wrong_is_told(
    store: Workspace, network: dict[str, Any], params: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        convert(store, network, **params)


@pytest.mark.zoo
def test_the_photos_of_the_zoo_give_the_known_accuracy(store: Workspace, zoo: Path) -> None:
    path = zoo / "models" / "efficientnet_lite0.onnx"
    declared = {"kind": "images", "size": [224, 224], "mean": 127, "std": 128, "labels": "prefix"}
    source = str(zoo / "data" / "imagenet_200.zip")
    made = convert(store, {"model": store.files.put(path)}, source_path=source, preprocessing=declared)
    data = read_dataset(store.files.read(made["data"]), load_model(path))
    session = open_session(path, SessionSettings())
    answers = [int(run_session(session, data.feed(index))["logits"].argmax()) for index in range(len(data))]
    assert data.labels is not None
    assert np.mean(np.array(answers) == data.labels) == pytest.approx(0.9)


def test_the_same_source_is_kept_once(store: Workspace, network: dict[str, Any], tmp_path: Path) -> None:
    folder = str(write_folder(tmp_path / "photos", FILES))
    one = convert(store, network, source_path=folder, preprocessing=DECLARED)
    assert convert(store, network, source_path=folder, preprocessing=DECLARED)["data"] == one["data"]
    with np.load(store.files.path(one["data"])) as arrays:
        assert arrays["x"].shape == (8, 1, 3, 16, 16)
