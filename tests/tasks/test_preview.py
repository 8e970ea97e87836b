"""Preview: samples are read in a process of their own, and what is wrong with them comes back as one sentence."""

from __future__ import annotations

import base64
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from PIL import Image

from core.errors import CrashedError, DataError
from core.tasks import preview_child
from core.tasks.preview import Wanted, preview_samples

NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
network (float[batch, 3, 8, 8] image) => (float[batch, 3, 1, 1] y) { y = GlobalAveragePool (image) }
"""


def picture(shade: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((12, 16, 3), shade, np.uint8)).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture
def wanted(tmp_path: Path) -> Wanted:
    (tmp_path / "model.onnx").write_bytes(onnx.parser.parse_model(NETWORK).SerializeToString())
    with zipfile.ZipFile(tmp_path / "pictures", "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}_{'*' * number}.png", picture(50 * number))
        archive.writestr("9_broken.png", b"no picture")
    return Wanted(tmp_path / "model.onnx", tmp_path / "pictures", "pictures.zip")


def test_a_proposal_and_its_samples_come_from_a_process_of_their_own(wanted: Wanted) -> None:
    answer = preview_samples(wanted)
    assert answer["preprocessing"]["kind"] == "images"
    first = answer["samples"][0]
    assert (first["name"], first["shape"]) == ("0_.png", [1, 3, 8, 8])
    assert Image.open(io.BytesIO(base64.b64decode(first["thumbnail"]))).format == "PNG"
    assert [bool(sample["note"]) for sample in answer["samples"]] == [False] * 4 + [True]


def test_declared_preprocessing_shows_in_the_values(wanted: Wanted) -> None:
    how = {"kind": "images", "size": [8, 8], "mean": 100, "std": 50, "labels": "prefix"}
    given = json.loads(Wanted(wanted.model, wanted.source, wanted.name, preprocessing=how).to_json())
    samples = preview_child.look(given)["samples"]
    assert [sample["maximum"] for sample in samples[:3]] == pytest.approx([-2.0, -1.0, 0.0])
    assert [sample["label"] for sample in samples[:3]] == ["0", "1", "2"]


def test_what_is_wrong_comes_back_as_the_error_it_is(wanted: Wanted, tmp_path: Path) -> None:
    (tmp_path / "nothing").write_bytes(b"PK")
    with pytest.raises(DataError, match=r"broken\.zip") as told:
        preview_samples(Wanted(wanted.model, tmp_path / "nothing", "broken.zip"))
    assert told.value.hint


def test_a_process_that_dies_is_told_without_a_trace(wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(CrashedError, match=r"The process that read 'pictures\.zip' died"):
        preview_samples(wanted)


def test_a_preview_that_takes_too_long_ends(wanted: Wanted) -> None:
    with pytest.raises(DataError, match="took longer"):
        preview_samples(wanted, timeout_s=0.01)
