"""Images, sound and texts on the command line: an NPZ is made of them first, and what was guessed is told."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from core.store.workspace import Workspace
from tests.cli.conftest import NotedJobs
from tests.cli.running import Answer, Terminal
from tests.intake.sources import pixels, png, tokenizer, write_folder

PICTURES = """
<ir_version: 8, opset_import: ["" : 17]>
pictures (float[batch, 3, 8, 8] x) => (float[batch, 3, 8, 8] y)
{ y = Relu (x) }
"""
FILES = {f"{number}_x.png": png(pixels(seed=number)) for number in range(6)}
DECLARED = {"kind": "images", "size": [8, 8], "mean": 127, "std": 128, "labels": "prefix"}


def call(mixdesk: Terminal, *arguments: object) -> Answer:
    """Calls it with paths and numbers as text."""
    return mixdesk(*map(str, arguments))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model of images."""
    path = tmp_path / "pictures.onnx"
    onnx.save(onnx.parser.parse_model(PICTURES), path)
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder of labelled images."""
    return write_folder(tmp_path / "photos", FILES)


def test_a_declared_preprocessing_is_used_and_kept(
    mixdesk: Terminal, model: Path, photos: Path, tmp_path: Path
) -> None:
    (tmp_path / "prep.json").write_text(json.dumps(DECLARED))
    done = call(mixdesk, "inspect", model, "--data", photos, "--preprocessing", tmp_path / "prep.json", "--json")
    data = done.document["data"]
    assert (data["name"], data["samples"], data["labels"], data["remarks"]) == ("photos", 6, True, [])
    assert data["preprocessing"]["mean"] == [127]
    store = Workspace.open(None)
    with np.load(io.BytesIO(store.files.read(data["sha256"]))) as arrays:
        wanted = ((pixels(seed=2).astype(np.float32) - 127) / 128).transpose(2, 0, 1)
        np.testing.assert_array_equal(arrays["x"][2, 0], wanted)
        assert arrays["y"].tolist() == [0, 1, 2, 3, 4, 5]


def test_an_edited_proposal_is_no_longer_called_a_guess(
    mixdesk: Terminal, model: Path, photos: Path, tmp_path: Path
) -> None:
    proposed = call(mixdesk, "inspect", model, "--data", photos, "--json").document["data"]["preprocessing"]
    assert proposed["guessed"]
    (tmp_path / "edited.json").write_text(json.dumps({**proposed, "mean": [0], "std": [255]}))
    done = call(mixdesk, "inspect", model, "--data", photos, "--preprocessing", tmp_path / "edited.json", "--json")
    assert (done.document["data"]["preprocessing"]["std"], done.document["data"]["preprocessing"]["guessed"]) == (
        [255],
        [],
    )
    assert "guessed" not in done.err


def test_a_guess_is_told_on_standard_error_and_in_the_document(mixdesk: Terminal, model: Path, photos: Path) -> None:
    done = call(mixdesk, "inspect", model, "--data", photos, "--limit", 3, "--json")
    assert "note: The preprocessing was guessed: " in done.err
    assert done.document["data"]["samples"] == 3
    assert done.document["data"]["remarks"][0] in done.err
    assert "3 of 6 samples were asked for" in done.err


def test_the_job_is_told_where_things_are(mixdesk: Terminal, noted: NotedJobs, model: Path, tmp_path: Path) -> None:
    texts = write_folder(tmp_path / "texts", {"t.csv": b"text,label\ngood,1\n"}) / "t.csv"
    path = tokenizer(tmp_path / "tokenizer.json")
    noted.result = {"data": "0" * 64, "name": "t", "remarks": []}
    call(mixdesk, "inspect", model, "--data", texts, "--limit", 1, "--seed", 7)
    (kind, params), (_, then) = noted.asked
    assert kind == "convert"
    assert (params["source_path"], params["source_name"]) == (str(texts), "t.csv")
    assert (params["tokenizer_path"], params["limit"], params["seed"]) == (str(path), 1, 7)
    assert params["preprocessing"] is None
    assert (then["data"], then["data_name"]) == ("0" * 64, "t")


@pytest.mark.parametrize("content", ["{", "[]", '{"kind": "images"}', '{"kind": "images", "size": [8, 8], "std": 0}'])
def test_a_preprocessing_that_cannot_be_read_stops_before_any_work(
    mixdesk: Terminal, noted: NotedJobs, model: Path, photos: Path, content: str
) -> None:
    path = model.with_name("prep.json")
    path.write_text(content)
    done = call(mixdesk, "inspect", model, "--data", photos, "--preprocessing", path)
    assert done.status == 2
    assert done.err.startswith("mixdesk: ")
    assert not noted.asked


@pytest.mark.parametrize("option", ["--preprocessing", "--tokenizer"])
def test_a_missing_file_is_named(mixdesk: Terminal, model: Path, photos: Path, option: str) -> None:
    done = call(mixdesk, "inspect", model, "--data", photos, option, "nowhere.json")
    assert done.status == 2
    assert "'nowhere.json'" in done.err


def test_options_without_anything_to_work_on_are_refused(mixdesk: Terminal, tiny: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 3), np.float32))
    for arguments in (("--limit", 3), ("--data", tmp_path / "a.npz", "--limit", 3)):
        done = call(mixdesk, "inspect", tiny, *arguments)
        assert done.status == 2
        assert "--limit has nothing to work on" in done.err


def test_data_that_no_input_takes_is_refused_in_one_line(mixdesk: Terminal, tiny: Path, photos: Path) -> None:
    done = call(mixdesk, "inspect", tiny, "--data", photos, "--json")
    assert done.status == 2
    assert done.document["error"]["kind"] == "data"
    assert "No input of the model takes images" in done.document["error"]["message"]
