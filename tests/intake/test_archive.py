"""Archives are unpacked where nothing in them can do harm, and refused in one line where something might."""

from __future__ import annotations

import io
import shutil
import stat
import struct
import zipfile
from pathlib import Path

import pytest

from core.errors import DataError, ModelError
from core.intake import archive as archives
from core.intake.archive import checked_members, open_archive, read_member, unpack


def packed(files: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return into.getvalue()


def with_mode(name: str, mode: int) -> bytes:
    """An archive whose member `name` is no plain file."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr("net.onnx", b"graph")
        member = zipfile.ZipInfo(name)
        member.external_attr = mode << 16
        archive.writestr(member, b"/etc/passwd")
    return into.getvalue()


def test_a_model_and_its_weights_lie_as_they_were_packed(tmp_path: Path) -> None:
    given = packed({"net/net.onnx": b"graph", "net/weights/w.bin": b"weights", "readme.txt": b"hello"})
    path = unpack(given, tmp_path)
    assert path == tmp_path / "net/net.onnx"
    assert (path.parent / "weights/w.bin").read_bytes() == b"weights"


def test_an_archive_on_disk_is_named_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "net.zip").write_bytes(packed({"a.txt": b""}))
    with pytest.raises(ModelError, match=r"'net\.zip' holds no \.onnx file"):
        unpack(tmp_path / "net.zip", tmp_path)


def test_what_macos_adds_and_hidden_files_are_left_out(tmp_path: Path) -> None:
    given = packed({"__MACOSX/._net.onnx": b"x", ".git/a.onnx": b"x", ".hidden.onnx": b"x", "net.onnx": b"graph"})
    assert unpack(given, tmp_path) == tmp_path / "net.onnx"
    assert [path.name for path in tmp_path.iterdir()] == ["net.onnx"]


def test_folders_of_their_own_are_no_files(tmp_path: Path) -> None:
    assert unpack(packed({"net/": b"", "net/net.onnx": b"graph"}), tmp_path).read_bytes() == b"graph"


def test_a_zip64_archive_is_read(tmp_path: Path) -> None:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive, archive.open("net.onnx", "w", force_zip64=True) as member:
        member.write(b"graph")
    assert unpack(into.getvalue(), tmp_path).read_bytes() == b"graph"


@pytest.mark.parametrize(
    "name", ["../w.bin", "a/../../w.bin", "/etc/w.bin", "C:w.bin", "c:/w.bin", "..\\w.bin", "a\\w.bin", "../"]
)
def test_names_that_lead_out_of_the_folder_are_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "into"
    folder.mkdir()
    with pytest.raises(ModelError, match="would be written outside the folder"):
        unpack(packed({"net.onnx": b"graph", name: b"x"}), folder)
    assert list(folder.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["into"]


@pytest.mark.parametrize(
    ("mode", "kind"), [(stat.S_IFLNK | 0o777, "link"), (stat.S_IFCHR | 0o666, "device"), (stat.S_IFIFO, "device")]
)
def test_links_and_devices_are_refused(tmp_path: Path, mode: int, kind: str) -> None:
    with pytest.raises(ModelError, match=f"'w.bin' is a {kind}, not a file"):
        unpack(with_mode("w.bin", mode), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_encrypted_archive_is_refused(tmp_path: Path) -> None:
    given = bytearray(packed({"net.onnx": b"graph"}))
    at = given.index(b"PK\x01\x02") + 8
    given[at : at + 2] = struct.pack("<H", 0x1)
    with pytest.raises(ModelError, match=r"'net\.onnx' is protected by a password"):
        unpack(bytes(given), tmp_path)


def test_a_bomb_is_refused_before_it_is_opened(tmp_path: Path) -> None:
    given = packed({"net.onnx": b"graph", "w.bin": bytes(archives.HARMLESS_BYTES + 1)})
    assert len(given) < 1_000_000
    with pytest.raises(ModelError, match="as in a zip bomb"):
        unpack(given, tmp_path, name="net.zip")
    assert list(tmp_path.iterdir()) == []


def test_small_archives_may_pack_however_well(tmp_path: Path) -> None:
    assert unpack(packed({"net.onnx": bytes(5_000_000)}), tmp_path).stat().st_size == 5_000_000


def test_too_much_or_too_many_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = packed({"net.onnx": b"12345", "w": b"1"})
    monkeypatch.setattr(archives, "MOST_BYTES", 5)
    with pytest.raises(ModelError, match=r"it holds 2 files of 0\.0 GB; at most 20,000 files and 0 GB are"):
        unpack(given, tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr(archives, "MOST_MEMBERS", 1)
    with pytest.raises(ModelError, match="at most 1 files"):
        unpack(given, tmp_path)


def test_a_full_disk_is_told_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=3))
    with pytest.raises(ModelError, match=r"but only 0\.0 GB of the disk are free") as refusal:
        unpack(packed({"net.onnx": b"graph"}), tmp_path)
    assert refusal.value.hint == "Free some disk space."


def test_a_list_that_lies_about_sizes_does_not_get_more(tmp_path: Path) -> None:
    given = bytearray(packed({"net.onnx": b"x" * 100_000}))
    at = given.index(b"PK\x01\x02") + 24
    given[at : at + 4] = struct.pack("<I", 10)
    with pytest.raises(ModelError, match=r"'net\.onnx' in 'the archive' cannot be unpacked"):
        unpack(bytes(given), tmp_path)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10


def test_damage_is_told_in_one_line(tmp_path: Path) -> None:
    whole = packed({"net.onnx": bytes(range(256)) * 400}, method=zipfile.ZIP_STORED)
    with pytest.raises(ModelError, match=r"is not a readable \.zip archive"):
        unpack(whole[:-40], tmp_path)
    with pytest.raises(ModelError, match=r"is not a readable \.zip archive"):
        unpack(b"PK\x03\x04 and nothing else", tmp_path)
    flipped = bytearray(whole)
    flipped[1000] ^= 0xFF
    with pytest.raises(ModelError, match=r"'net\.onnx' in 'the archive' cannot be unpacked: damaged"):
        unpack(bytes(flipped), tmp_path)


def test_a_file_and_a_folder_of_one_name_are_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be unpacked: 'w/net\.onnx' cannot be written"):
        unpack(packed({"w": b"1", "w/net.onnx": b"graph"}), tmp_path)


def test_several_models_are_listed(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"'two\.zip' holds 2 models: 'a\.onnx', 'b/c\.ONNX'"):
        unpack(packed({"b/c.ONNX": b"", "a.onnx": b""}), tmp_path, name="two.zip")


def test_arrays_are_not_a_model_but_data(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no \.onnx file") as refusal:
        unpack(packed({"x.npy": b"", "y.npy": b""}), tmp_path)
    assert "--data" in str(refusal.value.hint)


def test_one_name_twice_is_refused() -> None:
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        archive.writestr("net.onnx", b"one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("net.onnx", b"two")
    with (
        open_archive(into.getvalue(), name="net.zip") as given,
        pytest.raises(ModelError, match="several files of one name"),
    ):
        checked_members(given, name="net.zip")


def test_others_read_members_under_their_own_error() -> None:
    with open_archive(packed({"a.png": b"12345"}), name="images.zip", error=DataError) as archive:
        (member,) = checked_members(archive, name="images.zip", error=DataError)
        assert read_member(archive, member, most_bytes=5, name="images.zip", error=DataError) == b"12345"
        with pytest.raises(DataError, match=r"'a\.png' in 'images\.zip' is larger"):
            read_member(archive, member, most_bytes=4, name="images.zip", error=DataError)
    with (
        pytest.raises(DataError, match="is not a readable"),
        open_archive(b"no archive", name="images.zip", error=DataError),
    ):
        pass
