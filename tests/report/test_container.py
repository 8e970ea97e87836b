"""The zip of a bundle: the same parts give the same bytes, and whatever is wrong with one is told in a sentence."""

from __future__ import annotations

import json
import os
import stat
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from core.errors import BundleError, MixdeskError, NotFoundError
from core.report.container import Container
from core.report.manifest import FORMAT, MANIFEST
from tests.report.bundles import edit_json, make_bundle, rewrite


def refusal(path: Path) -> MixdeskError:
    with pytest.raises(MixdeskError) as refused:
        Container(path)
    assert refused.value.exit_status == 2
    assert "\n" not in refused.value.message
    return refused.value


def test_the_same_parts_give_the_same_bytes(tmp_path: Path) -> None:
    first = make_bundle(tmp_path).read_bytes()
    for path in (tmp_path / "source").iterdir():
        os.utime(path, (0, 0))
    assert make_bundle(tmp_path).read_bytes() == first


def test_members_have_a_fixed_order_date_and_packing(tmp_path: Path) -> None:
    with zipfile.ZipFile(make_bundle(tmp_path)) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == [
        *("README.md", "run.py", "model.onnx", "recipe.json", "plan.json", "report.json", "report.html"),
        *("holdout.npz", "original.onnx", "manifest.json"),
    ]
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    stored = {entry.filename for entry in entries if entry.compress_type == zipfile.ZIP_STORED}
    assert stored == {"model.onnx", "holdout.npz", "original.onnx"}


def test_a_failed_write_leaves_the_older_bundle_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_bundle(tmp_path)
    before = path.read_bytes()

    def broken(*arguments: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("core.report.bundle.write_members", broken)
    with pytest.raises(OSError, match="disk full"):
        make_bundle(tmp_path)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob(".bundle*"))


def test_a_sound_bundle_has_no_changes(tmp_path: Path) -> None:
    container = Container(make_bundle(tmp_path))
    assert container.changes() == ()
    assert container.manifest.format == FORMAT


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    error = refusal(tmp_path / "nowhere.o3")
    assert isinstance(error, NotFoundError)
    assert "There is no file" in error.message


def test_a_folder_is_no_bundle(tmp_path: Path) -> None:
    assert "is a folder, not a bundle" in refusal(tmp_path).message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"this is a text, no zip", "is no bundle: it is not a zip archive"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is no bundle"),
    ],
)
def test_what_is_no_zip_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "x.o3"
    path.write_bytes(content)
    assert says in refusal(path).message


def test_a_bundle_that_is_cut_off_is_damaged(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    path.write_bytes(path.read_bytes()[:-200])
    assert "is damaged: its end is missing" in refusal(path).message


def test_another_zip_is_no_bundle(tmp_path: Path) -> None:
    path = tmp_path / "x.o3"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    assert "is no bundle: it has no manifest.json" in refusal(path).message


@pytest.mark.parametrize("content", [b"{not json", b"[]", b'{"format": 1}', b'{"format": null}', b"\xff\xfe"])
def test_a_manifest_that_cannot_be_read_is_damage(tmp_path: Path, content: bytes) -> None:
    path = rewrite(make_bundle(tmp_path), lambda members: members.update({MANIFEST: content}))
    assert "is damaged: its manifest.json cannot be read" in refusal(path).message


def test_a_newer_format_is_not_misread(tmp_path: Path) -> None:
    def newer(members: dict[str, bytes]) -> None:
        members[MANIFEST] = json.dumps({"format": FORMAT + 1, "anything": "else"}).encode()

    error = refusal(rewrite(make_bundle(tmp_path), newer))
    assert isinstance(error, BundleError)
    assert error.message == "'bundle.o3' is a bundle of format 2; this version reads format 1."
    assert "Update" in str(error.hint)


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil", "C:/evil"])
def test_a_member_that_leads_out_is_never_unpacked(tmp_path: Path, name: str) -> None:
    path = rewrite(make_bundle(tmp_path), lambda members: members.update({name: b"x"}))
    assert "outside" in refusal(path).message


def test_a_link_is_refused(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        entry = zipfile.ZipInfo("link")
        entry.create_system = 3
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    assert "link" in refusal(path).message


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice_is_refused(tmp_path: Path) -> None:
    path = make_bundle(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("model.onnx", "another")
    assert "several" in refusal(path).message


def test_a_zip_bomb_is_refused_before_anything_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.intake.archive.HARMLESS_BYTES", 1_000_000)
    path = make_bundle(tmp_path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.bin", bytes(20_000_000))
    assert "zip bomb" in refusal(path).message


def test_a_bundle_larger_than_the_disk_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container = Container(make_bundle(tmp_path))
    monkeypatch.setattr("core.report.container.shutil.disk_usage", lambda folder: type("Usage", (), {"free": 10}))
    with pytest.raises(BundleError, match="GB are free"):
        container.unpack(["model.onnx"], tmp_path)


def test_a_changed_manifest_is_noticed(tmp_path: Path) -> None:
    path = rewrite(make_bundle(tmp_path), lambda members: edit_json(members, MANIFEST, target="sqnr>=1"))
    assert Container(path).changes() == ("manifest.json was changed after the bundle was written.",)


@pytest.mark.parametrize(("content", "says"), [(b"[]", "it is a list"), (b"null", "it is null"), (b"7", "a number")])
def test_a_manifest_that_is_no_object_is_called_what_it_is(tmp_path: Path, content: bytes, says: str) -> None:
    path = rewrite(make_bundle(tmp_path), lambda members: members.update({MANIFEST: content}))
    assert says in refusal(path).message
    assert "not a JSON object" in refusal(path).message


def test_a_manifest_of_blanks_is_not_read_whole(tmp_path: Path) -> None:
    blanks = b" " * 30_000_000
    path = rewrite(make_bundle(tmp_path), lambda members: members.update({MANIFEST: blanks}))
    tracemalloc.start()
    says = refusal(path).message
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert says == "'bundle.o3' is no bundle: its manifest.json has 30 MB, more than any manifest."
    assert peak < len(blanks) / 2
