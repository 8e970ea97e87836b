"""Files kept under the SHA-256 of their content: stored once, written whole or not at all, checked when read."""

from __future__ import annotations

import errno
import hashlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from core.errors import NotFoundError, RequestError, WorkError
from core.store.rows import new_id

CHUNK_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUFFIX = re.compile(r"(\.[A-Za-z0-9_-]{1,16}){0,3}")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One stored file; `modified_at` is when it was last put (not when it was read)."""

    sha256: str
    size_bytes: int
    modified_at: datetime
    location: str


class ContentFiles:
    """A folder of files by content hash, on any file system that fsspec knows.

    Args:
        url: a local folder, or an address such as `s3://bucket/folder`.
        local_copies: where `path()` puts copies of files that are not on this machine's disk.
    """

    def __init__(self, url: str, *, local_copies: Path) -> None:
        try:
            self._fs, root = fsspec.core.url_to_fs(url)
        except (ValueError, ImportError) as e:
            raise RequestError(f"The address of the file store cannot be used: {e}") from e
        self._root = root.rstrip("/")
        self.url = url
        self._local_copies = local_copies
        self._is_local = isinstance(self._fs, LocalFileSystem)
        self._checked: dict[str, tuple[int, datetime]] = {}

    def put(self, data: bytes | Path, *, suffix: str = ".onnx") -> str:
        """Stores the bytes, or a copy of the file, and returns its SHA-256; the same content is kept once.

        Raises:
            RequestError: the file to copy cannot be read.
            WorkError: the store cannot be written (for instance: disk full).
        """
        if not _SUFFIX.fullmatch(suffix):
            raise RequestError(f"{suffix!r} is not a file suffix.")
        with _open_source(data) as source, _as_work_error("store a file"):
            return self._write(source, suffix)

    def has(self, sha256: str) -> bool:
        """Whether a file with this hash is stored."""
        return self._find(sha256) is not None

    def path(self, sha256: str) -> Path:
        """Returns a local, checked file with this content, to be read only.

        Raises:
            NotFoundError: no such file.
            WorkError: the stored file no longer has this content.
        """
        stored = self._get(sha256)
        if self._is_local:
            self._check(stored)
            return Path(stored.location)
        return self._local_copy(stored)

    def read(self, sha256: str) -> bytes:
        """Returns the content, checked against its hash; errors as `path`."""
        stored = self._get(sha256)
        with _as_work_error("read a stored file"):
            content = cast("bytes", self._fs.cat_file(stored.location))
        if hashlib.sha256(content).hexdigest() != sha256:
            raise _damaged(stored)
        return content

    def stat(self, sha256: str) -> StoredFile:
        """Returns size and age; NotFoundError where there is no such file."""
        return self._get(sha256)

    def remove(self, sha256: str) -> int:
        """Deletes the file and returns the bytes that this freed (0 where it was not there)."""
        stored = self._find(sha256)
        if stored is None:
            return 0
        with _as_work_error("delete a stored file"):
            self._fs.rm_file(stored.location)
        self._checked.pop(sha256, None)
        return stored.size_bytes

    def stored(self) -> Iterator[StoredFile]:
        """All stored files, in the order of their hashes."""
        if not self._fs.exists(self._root):
            return
        for bucket in sorted(self._fs.ls(self._root, detail=False, refresh=True)):
            yield from self._list_bucket(Path(bucket).name)

    def remove_leftovers(self, before: datetime) -> int:
        """Deletes what a process that died while storing left behind before that moment; returns the bytes freed."""
        freed = 0
        for entry in self._entries("incoming"):
            if self._modified(entry["name"]) < before:
                with _as_work_error("delete a stored file"):
                    self._fs.rm_file(entry["name"])
                freed += int(entry["size"] or 0)
        return freed

    def _write(self, source: BinaryIO, suffix: str) -> str:
        temporary = f"{self._root}/incoming/{new_id()}"
        self._fs.makedirs(f"{self._root}/incoming", exist_ok=True)
        try:
            digest = hashlib.sha256()
            with self._fs.open(temporary, "wb") as target:
                while chunk := source.read(CHUNK_BYTES):
                    digest.update(chunk)
                    target.write(chunk)
            return self._move_in(temporary, digest.hexdigest(), suffix)
        finally:
            if self._fs.exists(temporary):
                self._fs.rm_file(temporary)

    def _move_in(self, temporary: str, sha256: str, suffix: str) -> str:
        known = self._find(sha256)  # replaced even so: that heals a damaged file and renews its age
        location = known.location if known else f"{self._root}/{sha256[:2]}/{sha256}{suffix}"
        self._fs.makedirs(location.rsplit("/", 1)[0], exist_ok=True)
        if self._is_local:
            Path(temporary).replace(location)
        else:
            self._fs.mv(temporary, location)
        return sha256

    def _local_copy(self, stored: StoredFile) -> Path:
        target = self._local_copies / Path(stored.location).name
        if not target.exists():
            content = self.read(stored.sha256)
            with _as_work_error("copy a stored file to this machine"):
                self._local_copies.mkdir(parents=True, exist_ok=True)
                temporary = target.with_name(f".{new_id()}")
                temporary.write_bytes(content)
                temporary.replace(target)
        return target

    def _check(self, stored: StoredFile) -> None:
        seen = (stored.size_bytes, stored.modified_at)
        if self._checked.get(stored.sha256) == seen:
            return
        with _as_work_error("read a stored file"), Path(stored.location).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != stored.sha256:
            raise _damaged(stored)
        self._checked[stored.sha256] = seen

    def _get(self, sha256: str) -> StoredFile:
        stored = self._find(sha256)
        if stored is None:
            raise NotFoundError(f"The workspace has no file {sha256[:12]}.", hint="Load it again.")
        return stored

    def _find(self, sha256: str) -> StoredFile | None:
        if not _SHA256.fullmatch(sha256):
            return None
        return next((file for file in self._list_bucket(sha256[:2]) if file.sha256 == sha256), None)

    def _list_bucket(self, bucket: str) -> Iterator[StoredFile]:
        for entry in self._entries(bucket):
            sha256 = Path(entry["name"]).name.split(".", 1)[0]
            if _SHA256.fullmatch(sha256):
                yield StoredFile(sha256, int(entry["size"] or 0), self._modified(entry["name"]), str(entry["name"]))

    def _entries(self, folder: str) -> list[dict[str, Any]]:
        try:
            found = self._fs.ls(f"{self._root}/{folder}", detail=True, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(found, key=lambda entry: str(entry["name"]))

    def _modified(self, location: str) -> datetime:
        moment = cast("datetime", self._fs.modified(location))
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@contextmanager
def _open_source(data: bytes | Path) -> Iterator[BinaryIO]:
    if isinstance(data, bytes):
        yield io.BytesIO(data)
        return
    try:
        file = data.open("rb")
    except OSError as e:
        raise RequestError(f"{data} cannot be read ({e.strerror}).") from e
    with file:
        yield file


@contextmanager
def _as_work_error(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        hint = "Free some disk space." if e.errno == errno.ENOSPC else None
        raise WorkError(f"The workspace could not {what}: {e.strerror or e}.", hint=hint) from e


def _damaged(stored: StoredFile) -> WorkError:
    return WorkError(
        f"The stored file {stored.location} no longer has the content it was stored with.",
        hint="Load the model or data again: that repairs it.",
    )
