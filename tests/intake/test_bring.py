"""Whatever a model comes as, it is stored as the same thing, with just what belongs to it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import onnx
import pytest

from core.errors import ModelError, StoppedError
from core.intake.bring import bring, find_onnx
from core.intake.load import load_model
from core.store.files import ContentFiles
from tests.intake.several import chain, save_apart
from tests.intake.texts import TINY, to_bytes


@pytest.fixture
def files(tmp_path: Path) -> ContentFiles:
    return ContentFiles(str(tmp_path / "files"), local_copies=tmp_path / "copies")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """A model whose weights lie in a folder below it."""
    folder = tmp_path / "net"
    folder.mkdir()
    return save_apart(chain(), folder / "net.onnx", location="weights/w.bin")


def zipped(folder: Path, into: Path) -> Path:
    with zipfile.ZipFile(into, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    return into


def test_a_single_file_is_stored_under_the_hash_of_its_bytes(files: ContentFiles, tmp_path: Path) -> None:
    (tmp_path / "tiny.onnx").write_bytes(to_bytes(TINY))
    brought = bring(files, tmp_path / "tiny.onnx")
    assert (brought.sha256, brought.name) == (files.put(to_bytes(TINY)), "tiny")
    assert brought.sha256 == load_model(tmp_path / "tiny.onnx").sha256
    assert (brought.missing, brought.unused) == ((), ())


def test_every_form_of_a_model_gives_the_same_hash(files: ContentFiles, net: Path, tmp_path: Path) -> None:
    weights = net.parent / "weights/w.bin"
    forms = (
        net,
        net.parent,
        zipped(net.parent, tmp_path / "net.zip"),
        {"net.onnx": net, "weights/w.bin": weights},
        {"w.bin": weights.read_bytes(), "renamed.onnx": net.read_bytes()},
        {"net.zip": (tmp_path / "net.zip").read_bytes()},
        {"upload": tmp_path / "net.zip"},
    )
    hashes = {bring(files, form).sha256 for form in forms}
    assert hashes == {load_model(net).sha256}
    (sha256,) = hashes
    assert load_model(files.path(sha256)).sha256 == sha256
    assert set(files.members(sha256)) == {"net.onnx", "weights/w.bin"}
    assert files.stat(sha256).size_bytes == load_model(net).size_bytes


def test_another_weight_is_another_model(files: ContentFiles, net: Path) -> None:
    before = bring(files, net).sha256
    weights = net.parent / "weights/w.bin"
    weights.write_bytes(weights.read_bytes()[:-4] + b"\0\0\0\0")
    assert bring(files, net).sha256 == load_model(net).sha256 != before


def test_only_what_belongs_to_the_model_is_stored(files: ContentFiles, net: Path) -> None:
    (net.parent / "notes.txt").write_text("unrelated")
    assert set(files.members(bring(files, net.parent).sha256)) == {"net.onnx", "weights/w.bin"}
    given: dict[str, Path | bytes] = {"net.onnx": net, "w.bin": net.parent / "weights/w.bin", "notes.txt": b"unrelated"}
    assert bring(files, given).unused == ("notes.txt",)


def test_weights_that_were_not_given_are_named_and_the_model_is_stored_alone(files: ContentFiles, net: Path) -> None:
    brought = bring(files, {"net.onnx": net})
    assert brought.missing == ("weights/w.bin",)
    assert brought.sha256 == files.put(net)
    assert "is missing" in load_model(files.path(brought.sha256), strict=False).findings[0].message


@pytest.mark.parametrize("location", ["../w.bin", "/etc/hostname"])
def test_weights_outside_the_folder_are_never_read(files: ContentFiles, tmp_path: Path, location: str) -> None:
    proto = chain(layers=1)
    (tmp_path / "w.bin").write_bytes(b"secret")
    folder = tmp_path / "net"
    folder.mkdir()
    path = save_apart(proto, folder / "net.onnx")
    weight = proto.graph.initializer[0]
    weight.external_data[0].value = location
    path.write_bytes(proto.SerializeToString())
    dropped: dict[str, Path | bytes] = {"net.onnx": path, "w.bin": b"secret", "hostname": b"secret"}
    for form in (path, dropped):
        brought = bring(files, form)
        assert brought.missing == (location,)
        assert set(files.members(brought.sha256)) == {f"{brought.sha256}.onnx"}


def test_a_link_out_of_the_folder_is_not_followed(files: ContentFiles, net: Path, tmp_path: Path) -> None:
    weights = net.parent / "weights/w.bin"
    weights.rename(tmp_path / "elsewhere.bin")
    weights.symlink_to(tmp_path / "elsewhere.bin")
    assert bring(files, net).missing == ("weights/w.bin",)


@pytest.mark.parametrize("content", [b"", b"version https://git-lfs", b"\0\1\2location\3", b"{}"])
def test_what_is_no_model_is_stored_for_whoever_says_so(files: ContentFiles, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "no.onnx").write_bytes(content)
    assert bring(files, tmp_path / "no.onnx").sha256 == files.put(content)


def test_a_missing_file_and_an_empty_folder_are_refused(files: ContentFiles, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="There is no file"):
        bring(files, tmp_path / "nowhere.onnx")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"'empty' holds no \.onnx file"):
        bring(files, tmp_path / "empty")
    with pytest.raises(ModelError, match="'The selection' holds no"):
        bring(files, {"a.bin": b"", "b.bin": b""})


def test_a_file_above_two_gigabytes_is_refused_before_it_is_read(files: ContentFiles, tmp_path: Path) -> None:
    with (tmp_path / "huge.onnx").open("wb") as file:
        file.truncate(2_100_000_000)
    with pytest.raises(ModelError, match=r"has 2\.1 GB; one ONNX file cannot hold more than 2 GB") as refusal:
        bring(files, tmp_path / "huge.onnx")
    assert "external data" in str(refusal.value.hint)
    with pytest.raises(ModelError, match=r"has 2\.1 GB"):
        load_model(tmp_path / "huge.onnx")


def test_the_model_of_a_folder_may_lie_deeper_where_none_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/deep.onnx").touch()
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/old.onnx").touch()
    assert find_onnx(tmp_path) == tmp_path / "a/b/deep.onnx"
    (tmp_path / "top.onnx").touch()
    assert find_onnx(tmp_path) == tmp_path / "top.onnx"


def test_a_large_model_tells_how_far_it_is_and_can_be_stopped(files: ContentFiles, net: Path) -> None:
    told: list[tuple[int, int]] = []
    bring(files, net, told=lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] == load_model(net).size_bytes

    def stop(*_: int) -> None:
        raise StoppedError("stopped")

    stored = len(list(files.stored()))
    with pytest.raises(StoppedError):
        bring(files, net, told=stop)
    assert len(list(files.stored())) == stored


def test_weights_may_be_called_like_the_model(files: ContentFiles, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    brought = bring(files, save_apart(chain(), folder / "net.onnx", location="sub/net.onnx"))
    assert set(files.members(brought.sha256)) == {"net.onnx", "sub/net.onnx"}
    assert onnx.load(files.path(brought.sha256)).graph.name == "chain"
