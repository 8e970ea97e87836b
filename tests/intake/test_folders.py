"""Server folders: only what really lies inside an allowed folder is listed or opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.errors import NotFoundError, RequestError
from core.intake.folders import (
    FOLDERS_VARIABLE,
    AllowedFolder,
    allowed_folders,
    check_folder,
    find_inside,
    list_files,
)


@pytest.fixture
def folder(tmp_path: Path) -> AllowedFolder:
    root = tmp_path / "models"
    (root / "deep" / "er").mkdir(parents=True)
    (root / ".hidden").mkdir()
    (root / "b.onnx").write_bytes(b"12345")
    (root / "A.ONNX").write_bytes(b"1")
    (root / "deep" / "er" / "c.onnx").write_bytes(b"123")
    (root / "deep" / "er" / "c.onnx_data").write_bytes(b"1" * 100)
    (root / "notes.md").write_text("no model")
    (root / ".hidden" / "secret.onnx").write_bytes(b"1")
    (tmp_path / "outside.onnx").write_bytes(b"1")
    return AllowedFolder("models", root)


def paths(folder: AllowedFolder) -> list[str]:
    return [file.path for file in list_files(folder).files]


def test_models_of_all_depths_are_listed_by_path(folder: AllowedFolder) -> None:
    assert paths(folder) == ["A.ONNX", "b.onnx", "deep/er/c.onnx"]


def test_the_size_counts_the_weights_beside_the_model(folder: AllowedFolder) -> None:
    sizes = {file.path: file.size_bytes for file in list_files(folder).files}
    assert sizes == {"A.ONNX": 1, "b.onnx": 5, "deep/er/c.onnx": 103}


def test_links_that_lead_out_are_not_listed_and_those_that_stay_are(folder: AllowedFolder) -> None:
    (folder.path / "leak.onnx").symlink_to(folder.path.parent / "outside.onnx")
    (folder.path / "gone.onnx").symlink_to(folder.path / "nothing.onnx")
    (folder.path / "around.onnx").symlink_to(folder.path / "around.onnx")
    (folder.path / "up").symlink_to(folder.path.parent, target_is_directory=True)
    (folder.path / "same.onnx").symlink_to(folder.path / "b.onnx")
    assert paths(folder) == ["A.ONNX", "b.onnx", "deep/er/c.onnx", "same.onnx"]


@pytest.mark.parametrize("relative", ["../outside.onnx", "deep/../../outside.onnx", "/etc/passwd", "", "a\x00.onnx"])
def test_a_path_that_leads_out_is_refused(folder: AllowedFolder, relative: str) -> None:
    with pytest.raises(RequestError, match="leads out"):
        find_inside("models", relative, folders=[folder])


def test_a_link_that_leads_out_is_refused_even_if_it_was_asked_for_by_name(folder: AllowedFolder) -> None:
    (folder.path / "leak.onnx").symlink_to(folder.path.parent / "outside.onnx")
    (folder.path / "up").symlink_to(folder.path.parent, target_is_directory=True)
    for relative in ("leak.onnx", "up/outside.onnx"):
        with pytest.raises(RequestError, match="leads out"):
            find_inside("models", relative, folders=[folder])


@pytest.mark.parametrize("relative", ["notes.md", ".hidden/secret.onnx"])
def test_what_is_no_model_and_what_is_hidden_is_refused(folder: AllowedFolder, relative: str) -> None:
    with pytest.raises(RequestError, match="no model or data file"):
        find_inside("models", relative, folders=[folder])


def test_a_listed_file_is_found(folder: AllowedFolder) -> None:
    assert find_inside("models", "deep/er/c.onnx", folders=[folder]).read_bytes() == b"123"


def test_unknown_folders_and_files_are_told_by_name(folder: AllowedFolder) -> None:
    with pytest.raises(NotFoundError, match=r"no folder 'model'\. Did you mean 'models'"):
        find_inside("model", "b.onnx", folders=[folder])
    with pytest.raises(NotFoundError, match=r"no file 'c\.onnx'"):
        find_inside("models", "c.onnx", folders=[folder])


def test_a_long_listing_ends_and_says_so(folder: AllowedFolder) -> None:
    listing = list_files(folder, most=2)
    assert len(listing.files) == 2
    assert not listing.complete


def test_a_folder_that_has_gone_is_told(folder: AllowedFolder) -> None:
    with pytest.raises(RequestError, match="is not there"):
        list_files(AllowedFolder("models", folder.path / "gone"))


def test_folders_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "nets").mkdir(parents=True)
    given = [str(tmp_path / "a" / "nets"), "", str(tmp_path / "b" / "nets"), str(tmp_path / "a" / "nets")]
    monkeypatch.setenv(FOLDERS_VARIABLE, os.pathsep.join(given))
    assert [folder.name for folder in allowed_folders()] == ["nets", "nets (2)"]


def test_nothing_is_allowed_unless_the_owner_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDERS_VARIABLE, raising=False)
    assert allowed_folders() == ()


def test_an_owner_who_names_no_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is no folder"):
        check_folder(tmp_path / "nothing")
    assert check_folder(tmp_path) == tmp_path.resolve()
