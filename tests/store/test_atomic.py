"""A file is written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.store.atomic import written_whole


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with written_whole(out) as file:
        file.write(b"new")
        assert out.read_bytes() == b"old"
    assert out.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), written_whole(out) as file:
        file.write(b"%d" % (1 // 0))
    assert out.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_others_may_read_it_as_the_user_allows(tmp_path: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    with written_whole(tmp_path / "out") as file:
        file.write(b"x")
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o666 & ~mask
