"""Files by content: on a local disk and on another file system the same."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from core.errors import NotFoundError, RequestError, StoppedError, WorkError
from core.store.digest import folder_sha256
from core.store.files import ContentFiles
from core.store.rows import new_id, now


class FilesContract:
    """Subclasses give the fixture `url`."""

    @pytest.fixture
    def files(self, url: str, tmp_path: Path) -> ContentFiles:
        return ContentFiles(url, local_copies=tmp_path / "copies")

    def test_bytes_come_back_under_their_hash(self, files: ContentFiles) -> None:
        sha256 = files.put(b"content")
        assert sha256 == hashlib.sha256(b"content").hexdigest()
        assert files.read(sha256) == b"content"
        assert files.path(sha256).read_bytes() == b"content"
        assert files.path(sha256).suffix == ".onnx"

    def test_a_file_is_copied_and_its_suffix_kept(self, files: ContentFiles, tmp_path: Path) -> None:
        (tmp_path / "data.npz").write_bytes(b"x" * 3_000_000)
        sha256 = files.put(tmp_path / "data.npz", suffix=".npz")
        (tmp_path / "data.npz").unlink()
        assert files.stat(sha256).size_bytes == 3_000_000
        assert files.path(sha256).name == f"{sha256}.npz"

    def test_the_same_content_is_kept_once(self, files: ContentFiles) -> None:
        assert files.put(b"same", suffix=".onnx") == files.put(b"same", suffix=".npz")
        assert [file.size_bytes for file in files.stored()] == [4]

    def test_an_empty_file_is_a_file(self, files: ContentFiles) -> None:
        assert files.read(files.put(b"")) == b""

    def test_what_was_not_put_in_is_not_found(self, files: ContentFiles) -> None:
        assert not files.has("0" * 64)
        with pytest.raises(NotFoundError, match="no file 000000000000"):
            files.path("0" * 64)

    @pytest.mark.parametrize("wanted", ["../../etc/passwd", "", "*" * 64, "A" * 64, "abc"])
    def test_only_a_whole_hash_names_a_file(self, files: ContentFiles, wanted: str) -> None:
        files.put(b"content")
        assert not files.has(wanted)
        with pytest.raises(NotFoundError):
            files.read(wanted)

    @pytest.mark.parametrize("suffix", ["/../x", "onnx", ".a/b", ".." + "x" * 40])
    def test_a_suffix_that_is_none_is_refused(self, files: ContentFiles, suffix: str) -> None:
        with pytest.raises(RequestError, match="not a file suffix"):
            files.put(b"content", suffix=suffix)

    def test_a_removed_file_is_gone_and_its_size_told(self, files: ContentFiles) -> None:
        sha256 = files.put(b"12345")
        assert files.remove(sha256) == 5
        assert files.remove(sha256) == 0
        assert not files.has(sha256)
        assert list(files.stored()) == []

    def test_nothing_is_listed_before_anything_is_stored(self, files: ContentFiles) -> None:
        assert list(files.stored()) == []

    def test_the_age_of_a_file_is_known_and_renewed(self, files: ContentFiles) -> None:
        sha256 = files.put(b"content")
        assert abs(now() - files.stat(sha256).modified_at) < timedelta(minutes=1)

    def test_a_missing_source_is_a_clear_refusal(self, files: ContentFiles, tmp_path: Path) -> None:
        with pytest.raises(RequestError, match=r"gone\.onnx cannot be read \(No such file or directory\)"):
            files.put(tmp_path / "gone.onnx")

    # several files as one

    def test_several_files_lie_beside_each_other_again(self, files: ContentFiles, tmp_path: Path) -> None:
        (tmp_path / "large").write_bytes(b"w" * 2_000_000)
        given: dict[str, Path | bytes] = {"net.onnx": b"graph", "weights/a.bin": tmp_path / "large", "b.bin": b"bb"}
        path = files.path(files.put_folder(given, main="net.onnx"))
        assert (path.name, path.read_bytes()) == ("net.onnx", b"graph")
        assert (path.parent / "weights/a.bin").read_bytes() == b"w" * 2_000_000
        assert (path.parent / "b.bin").read_bytes() == b"bb"

    def test_the_hash_of_several_files_is_that_of_their_contents(self, files: ContentFiles) -> None:
        sha256 = files.put_folder({"net.onnx": b"graph", "w": b"1"}, main="net.onnx")
        parts = {"w": hashlib.sha256(b"1").hexdigest()}
        assert sha256 == folder_sha256(hashlib.sha256(b"graph").hexdigest(), parts)
        assert files.put_folder({"renamed.onnx": b"graph", "w": b"1"}, main="renamed.onnx") == sha256
        assert files.put_folder({"net.onnx": b"graph", "w": b"2"}, main="net.onnx") != sha256
        assert len(list(files.stored())) == 2

    def test_several_files_are_one_thing_to_every_method(self, files: ContentFiles) -> None:
        sha256 = files.put_folder({"net.onnx": b"12345", "sub/w": b"123"}, main="net.onnx")
        assert files.has(sha256)
        assert [file.sha256 for file in files.stored()] == [sha256]
        assert files.stat(sha256).size_bytes == 8
        assert abs(now() - files.stat(sha256).modified_at) < timedelta(minutes=1)
        assert files.read(sha256) == b"12345"
        assert {name: path.read_bytes() for name, path in files.members(sha256).items()} == {
            "net.onnx": b"12345",
            "sub/w": b"123",
        }
        assert files.remove(sha256) == 8
        assert not files.has(sha256)
        assert list(files.stored()) == []

    def test_a_single_file_is_its_only_member(self, files: ContentFiles) -> None:
        sha256 = files.put(b"content")
        assert files.members(sha256) == {f"{sha256}.onnx": files.path(sha256)}

    @pytest.mark.parametrize("name", ["../w", "/w", "a/../../w", "", ".", "a//b", "./w", "a\\b", "w\0"])
    def test_a_name_that_may_leave_the_folder_is_refused(self, files: ContentFiles, name: str) -> None:
        with pytest.raises(RequestError, match="not the name of a file inside a folder"):
            files.put_folder({"net.onnx": b"graph", name: b"w"}, main="net.onnx")
        assert list(files.stored()) == []

    def test_a_missing_member_stores_nothing(self, files: ContentFiles, tmp_path: Path) -> None:
        with pytest.raises(RequestError, match=r"gone\.bin cannot be read"):
            files.put_folder({"net.onnx": b"graph", "w": tmp_path / "gone.bin"}, main="net.onnx")
        assert list(files.stored()) == []
        assert files.remove_leftovers(now() + timedelta(hours=1)) == 0

    def test_a_large_copy_tells_how_far_it_is_and_can_be_stopped(self, files: ContentFiles) -> None:
        told: list[tuple[int, int]] = []
        given = {"net.onnx": b"x" * 10, "w": b"y" * 3_000_000}
        files.put_folder(given, main="net.onnx", told=lambda done, total: told.append((done, total)))
        assert [total for _, total in told] == [3_000_010] * len(told)
        assert told[-1][0] == 3_000_010
        assert len(told) > 3

        def stop(*_: int) -> None:
            raise StoppedError("stopped")

        with pytest.raises(StoppedError):
            files.put(b"z" * 10, told=stop)
        assert len(list(files.stored())) == 1
        assert files.remove_leftovers(now() + timedelta(hours=1)) == 0


class TestOnTheLocalDisk(FilesContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return str(tmp_path / "files")

    def test_a_changed_file_is_noticed_and_healed_by_putting_it_in_again(self, files: ContentFiles) -> None:
        sha256 = files.put(b"content")
        files.path(sha256).write_bytes(b"damaged")
        with pytest.raises(WorkError, match="no longer has the content"):
            files.path(sha256)
        with pytest.raises(WorkError, match="no longer has the content"):
            files.read(sha256)
        files.put(b"content")
        assert files.path(sha256).read_bytes() == b"content"

    def test_a_changed_member_is_noticed_and_healed_by_putting_all_in_again(self, files: ContentFiles) -> None:
        given: dict[str, bytes | Path] = {"net.onnx": b"graph", "w": b"weights"}
        sha256 = files.put_folder(given, main="net.onnx")
        weights = files.members(sha256)["w"]
        for damage in (lambda: weights.write_bytes(b"damaged"), weights.unlink):
            damage()
            with pytest.raises(WorkError, match="no longer has the content"):
                files.path(sha256)
            assert files.put_folder(given, main="net.onnx") == sha256
            assert files.path(sha256).read_bytes() == b"graph"

    def test_threads_that_store_the_same_folder_agree(self, files: ContentFiles) -> None:
        given: dict[str, bytes | Path] = {"net.onnx": b"graph", "w": os.urandom(2_000_000)}
        hashes: list[str] = []

        def put() -> None:
            hashes.append(files.put_folder(given, main="net.onnx"))

        threads = [threading.Thread(target=put) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(hashes) == 6
        assert len(set(hashes)) == 1
        assert files.members(hashes[0])["w"].read_bytes() == given["w"]

    def test_a_folder_left_half_written_is_never_seen(self, files: ContentFiles, tmp_path: Path) -> None:
        sha256 = files.put_folder({"net.onnx": b"graph", "w": b"1"}, main="net.onnx")
        (tmp_path / "files" / sha256[:2] / f"{sha256}.parts" / "manifest.json").unlink()
        assert not files.has(sha256)
        assert list(files.stored()) == []
        assert files.put_folder({"net.onnx": b"graph", "w": b"1"}, main="net.onnx") == sha256
        assert files.has(sha256)

    def test_a_file_left_half_written_is_never_seen(self, files: ContentFiles, tmp_path: Path) -> None:
        write_half = f"""
import os
from pathlib import Path
from core.store.files import ContentFiles
class Half:
    def read(self, size):
        if hasattr(self, "once"):
            os._exit(9)
        self.once = True
        return b"half" * 100_000
files = ContentFiles({str(tmp_path / "files")!r}, local_copies=Path("unused"))
files._write(Half(), ".onnx")
"""
        assert subprocess.run([sys.executable, "-c", write_half], check=False).returncode == 9
        assert list(files.stored()) == []
        assert files.remove_leftovers(now() - timedelta(hours=1)) == 0
        assert files.remove_leftovers(now() + timedelta(hours=1)) == 400_000
        assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []

    def test_a_put_that_fails_leaves_nothing_behind(
        self, files: ContentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, os.strerror(28))

        monkeypatch.setattr(Path, "replace", full)
        with pytest.raises(WorkError, match="could not store a file: No space left on device") as failed:
            files.put(b"content")
        assert failed.value.hint == "Free some disk space."
        assert [path for path in (tmp_path / "files").rglob("*") if path.is_file()] == []

    def test_threads_that_store_the_same_content_agree(self, files: ContentFiles) -> None:
        content = os.urandom(2_000_000)
        hashes: list[str] = []
        threads = [threading.Thread(target=lambda: hashes.append(files.put(content))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert hashes == [hashlib.sha256(content).hexdigest()] * 6
        assert files.read(hashes[0]) == content


class TestOnAnotherFileSystem(FilesContract):
    @pytest.fixture
    def url(self) -> str:
        return f"memory://mixdesk-{new_id()}/files"

    def test_a_local_copy_is_made_once(self, files: ContentFiles, tmp_path: Path) -> None:
        path = files.path(files.put(b"content"))
        assert path.parent == tmp_path / "copies"
        before = path.stat().st_mtime_ns
        assert files.path(path.stem).stat().st_mtime_ns == before


def test_an_address_of_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="cannot be used"):
        ContentFiles("nosuch://bucket/files", local_copies=tmp_path)
