from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from core.errors import DataError
from core.intake.members import UnreadableError, kind_of, open_members
from tests.intake.sources import pixels, png, wav, write_folder, write_zip

PICTURE = png(pixels())
SOUND = wav(np.zeros(100, np.int16))


def test_a_folder_and_its_zip_have_the_same_members(tmp_path: Path) -> None:
    files = {"b/2.png": PICTURE, "a/1.png": PICTURE, ".hidden.png": b"", "__MACOSX/x.png": b"", "note.json": b"{}"}
    folder, archive = write_folder(tmp_path / "f", files), write_zip(tmp_path / "f.zip", files)
    with open_members(folder) as one, open_members(archive) as other:
        assert one.names == other.names == ("a/1.png", "b/2.png", "note.json")
        assert one.read("a/1.png") == other.read("a/1.png") == PICTURE


def test_a_single_file_is_called_as_the_user_calls_it(tmp_path: Path) -> None:
    (tmp_path / "0123abcd").write_bytes(SOUND)
    with open_members(tmp_path / "0123abcd", name="speech.wav") as members:
        assert members.names == ("speech.wav",)
        assert members.read("speech.wav") == SOUND


def test_links_out_of_a_folder_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(PICTURE)
    folder = write_folder(tmp_path / "f", {"1.png": PICTURE})
    (folder / "2.png").symlink_to(tmp_path / "secret.png")
    with open_members(folder) as members:
        assert members.names == ("1.png",)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"1.jpg": b"", "labels.csv": b"a,b"}, "images"),
        ({"1.wav": b"", "2.WAV": b"", "cover.png": b""}, "audio"),
        ({"t.csv": b"a"}, "text"),
        ({"pos.tok.5000": b"a"}, "text"),
        ({"x.npy": b"", "y.npy": b""}, "npz"),
    ],
)
def test_names_tell_what_a_source_holds(tmp_path: Path, files: dict[str, bytes], kind: str) -> None:
    assert kind_of(write_zip(tmp_path / "data.zip", files)) == kind


def test_arrays_are_known_whatever_the_file_is_called_and_a_broken_npz_is_still_one(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.savez(stream, x=np.zeros(3))
    (tmp_path / "a.zip").write_bytes(stream.getvalue())
    (tmp_path / "b.npz").write_bytes(b"nothing")
    assert kind_of(tmp_path / "a.zip") == kind_of(tmp_path / "b.npz") == "npz"


def test_a_source_of_something_else_is_refused(tmp_path: Path) -> None:
    files = {f"{name}.onnx": b"x" for name in "abcde"}
    with pytest.raises(DataError, match=r"no images, no sound and no text, but 'a\.onnx', .*, 'c\.onnx' and 2 more"):
        kind_of(write_zip(tmp_path / "m.zip", files))
    with pytest.raises(DataError, match="no file or folder"):
        kind_of(tmp_path / "nowhere")


def test_readme_files_are_no_data_where_there_are_others(tmp_path: Path) -> None:
    with open_members(write_folder(tmp_path, {"README.txt": b"r", "a.txt": b"a"})) as members:
        assert members.texts() == ("a.txt",)


def test_zip_slip_and_bombs_are_refused_as_data(tmp_path: Path) -> None:
    slip = write_zip(tmp_path / "slip.zip", {"../1.png": PICTURE})
    with pytest.raises(DataError, match="outside the folder"), open_members(slip):
        pass
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("1.png", "w") as member:
        for _ in range(300):
            member.write(bytes(1 << 20))
    with pytest.raises(DataError, match="bomb"), open_members(bomb):
        pass


def test_a_damaged_or_too_large_member_is_that_members_matter(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "d.zip", {"1.png": PICTURE, "2.png": PICTURE})
    data = bytearray(archive.read_bytes())
    data[60] ^= 0xFF
    archive.write_bytes(data)
    with open_members(archive) as members:
        with pytest.raises(UnreadableError):
            members.read("1.png")
        assert members.read("2.png") == PICTURE
        with pytest.raises(UnreadableError, match="larger"):
            members.read("2.png", most_bytes=10)


def test_a_file_that_is_cut_off_as_a_zip_is_refused(tmp_path: Path) -> None:
    whole = write_zip(tmp_path / "x.zip", {"1.png": PICTURE}).read_bytes()
    (tmp_path / "x.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="cut off or damaged"):
        kind_of(tmp_path / "x.zip")


@pytest.mark.parametrize("name", ["x.npz", "x.txt", "x.csv", "x.zip", "x.wav"])
def test_an_empty_file_is_named_and_called_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(DataError, match=f"^'{name}' is empty: the file has zero bytes.$"):
        kind_of(tmp_path / name)
