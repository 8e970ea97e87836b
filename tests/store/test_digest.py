"""Hashes of files, large ones remembered until they change."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from core.store import digest
from core.store.digest import file_sha256, folder_sha256


def test_a_file_has_the_hash_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"content").hexdigest()
    with pytest.raises(FileNotFoundError):
        file_sha256(tmp_path / "nowhere")


def test_a_large_file_is_read_once_and_again_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "_REMEMBERED_BYTES", 4)
    path = tmp_path / "large"
    path.write_bytes(b"first")
    first = file_sha256(path)
    reads: list[str] = []
    plain = hashlib.file_digest

    def counted(file: Any, algorithm: str) -> Any:
        reads.append("read")
        return plain(file, algorithm)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    assert file_sha256(path) == first
    assert reads == []
    path.write_bytes(b"other")
    os.utime(path, ns=(1, 1))
    assert file_sha256(path) == hashlib.sha256(b"other").hexdigest()
    assert reads == ["read"]


def test_several_files_hash_by_content_and_names_beside_the_main_one() -> None:
    one = folder_sha256("a" * 64, {"w": "b" * 64, "v": "c" * 64})
    assert one == folder_sha256("a" * 64, {"v": "c" * 64, "w": "b" * 64})
    others = [
        folder_sha256("b" * 64, {"w": "b" * 64, "v": "c" * 64}),
        folder_sha256("a" * 64, {"w": "c" * 64, "v": "b" * 64}),
        folder_sha256("a" * 64, {"w": "b" * 64, "x": "c" * 64}),
    ]
    assert len({one, *others}) == 4
