from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from core.errors import ModelError
from core.intake.source import read_source


def test_bytes_have_no_folder_and_the_hash_of_their_content() -> None:
    source = read_source(b"abc", name="n")
    assert source.folder is None
    assert source.name == "n"
    assert source.sha256 == hashlib.sha256(b"abc").hexdigest()


def test_a_path_knows_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(b"abc")
    assert read_source(str(path)).folder == tmp_path.resolve()


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no file"):
        read_source(tmp_path / "no.onnx")
    with pytest.raises(ModelError, match="is a folder"):
        read_source(tmp_path)
