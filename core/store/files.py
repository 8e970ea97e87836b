"""Files kept under the SHA-256 of their content: stored once, written whole or not at all, checked when read.

Several files that belong together (a model and its weights) are kept as one thing, see `core.store.files_parts`.
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import fsspec
from fsspec.implementations.local import LocalFileSystem

from core.errors import NotFoundError, RequestError, WorkError
from core.store.digest import file_sha256
from core.store.files_copying import SILENT, Content, Counter, Readable, Told, open_source
from core.store.files_parts import FILES, MANIFEST, SUFFIX, Manifest, check_names
from core.store.rows import new_id

CHUNK_BYTES = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SUFFIX = re.compile(r"(\.[A-Za-z0-9_-]{1,16}){0,3}")


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One stored file, or several as one; `modified_at` is when it was last put (not when it was read)."""

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
        self._checked: dict[str, tuple[tuple[str, int, int], ...]] = {}

    def put(self, data: bytes | Path, *, suffix: str = ".onnx", told: Told | None = None) -> str:
        """Stores the bytes, or a copy of the file, and returns its SHA-256; the same content is kept once.

        `told` hears (bytes done, bytes in all); what it raises ends the storing and leaves nothing behind.

        Raises:
            RequestError: the file to copy cannot be read.
            WorkError: the store cannot be written (for instance: disk full).
        """
        if not _SUFFIX.fullmatch(suffix):
            raise RequestError(f"{suffix!r} is not a file suffix.")
        with open_source(data) as source, _as_work_error("store a file"):
            return self._write(source, suffix, Counter(told, [data]))

    def put_folder(self, files: Mapping[str, Content], *, main: str, told: Told | None = None) -> str:
        """Stores several files as one thing and returns its hash, by which all other methods know it.

        Args:
            files: name -> bytes, a file or pieces; names may have folders ("weights/a.bin") and lie so again.
            main: the one that `path` gives.
            told: hears (bytes done, bytes in all).

        Raises:
            RequestError: a name that leads out of the folder, or a file that cannot be read.
            WorkError: the store cannot be written (for instance: disk full).
        """
        check_names(files, main)
        with _as_work_error("store a file"):
            return self._write_folder(files, main, Counter(told, list(files.values())))

    def has(self, sha256: str) -> bool:
        """Whether a file with this hash is stored."""
        return self._find(sha256) is not None

    def path(self, sha256: str) -> Path:
        """Returns a local, checked file with this content, to be read only; of several files the main one.

        Raises:
            NotFoundError: no such file.
            WorkError: the stored file no longer has this content.
        """
        return next(iter(self.members(sha256).values()))

    def members(self, sha256: str) -> dict[str, Path]:
        """Name -> local, checked file, the main one first; a single file is alone. Errors as `path`."""
        stored = self._get(sha256)
        if not self._is_local:
            return self._local_copies_of(stored)
        self._check(stored)
        return {name: Path(location) for name, location in self._places(stored).items()}

    def read(self, sha256: str) -> bytes:
        """Returns the content, checked against its hash (of several files that of the main one); errors as `path`."""
        stored = self._get(sha256)
        if _is_folder(stored.location):
            return self.path(sha256).read_bytes()
        with _as_work_error("read a stored file"):
            content = cast("bytes", self._fs.cat_file(stored.location))
        if hashlib.sha256(content).hexdigest() != sha256:
            raise _damaged(stored.location)
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
            self._fs.rm(stored.location, recursive=_is_folder(stored.location))
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
            files = self._fs.find(entry["name"], detail=True)
            if all(self._modified(name) < before for name in files):
                with _as_work_error("delete a stored file"):
                    self._fs.rm(entry["name"], recursive=True)
                freed += sum(int(file["size"] or 0) for file in files.values())
        return freed

    def _write(self, source: Readable, suffix: str, counter: Counter = SILENT) -> str:
        temporary = f"{self._root}/incoming/{new_id()}"
        self._fs.makedirs(f"{self._root}/incoming", exist_ok=True)
        try:
            sha256, _ = self._copy(source, temporary, counter)
            known = self._find(sha256)  # replaced even so: that heals a damaged file and renews its age
            self._move(temporary, known.location if known else f"{self._root}/{sha256[:2]}/{sha256}{suffix}")
            return sha256
        finally:
            if self._fs.exists(temporary):
                self._fs.rm_file(temporary)

    def _write_folder(self, files: Mapping[str, Content], main: str, counter: Counter) -> str:
        temporary = f"{self._root}/incoming/{new_id()}"
        try:
            written: dict[str, tuple[str, int]] = {}
            for name, data in files.items():
                with open_source(data) as source:
                    written[name] = self._copy(source, f"{temporary}/{FILES}/{name}", counter)
            sha256 = Manifest(main, written).sha256
            location = f"{self._root}/{sha256[:2]}/{sha256}{SUFFIX}"
            stored_as = self._main_name(location) or main  # the same files may come under another name
            moves = {name: stored_as if name == main else name for name in written}
            manifest = Manifest(stored_as, {new: written[name] for name, new in moves.items()})
            self._fs.pipe_file(f"{temporary}/{MANIFEST}", manifest.to_json())
            for name, new in moves.items():
                self._move(f"{temporary}/{FILES}/{name}", f"{location}/{FILES}/{new}")
            self._move(f"{temporary}/{MANIFEST}", f"{location}/{MANIFEST}")
            return sha256
        finally:
            if self._fs.exists(temporary):
                self._fs.rm(temporary, recursive=True)

    def _main_name(self, location: str) -> str | None:
        """The main file's name in a folder that is stored already, and whole as far as its manifest tells."""
        try:
            return self._manifest(location).main
        except WorkError:  # not there, or damaged: it is written anew
            return None

    def _copy(self, source: Readable, target: str, counter: Counter) -> tuple[str, int]:
        """Writes the file and returns its hash and size."""
        self._fs.makedirs(target.rsplit("/", 1)[0], exist_ok=True)
        digest, size = hashlib.sha256(), 0
        with self._fs.open(target, "wb") as file:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
                file.write(chunk)
                size += len(chunk)
                counter.add(len(chunk))
        return digest.hexdigest(), size

    def _move(self, temporary: str, location: str) -> None:
        """Puts a written file where it belongs, in the place of an older one."""
        self._fs.makedirs(location.rsplit("/", 1)[0], exist_ok=True)
        if self._is_local:
            Path(temporary).replace(location)
        else:
            self._fs.mv(temporary, location)

    def _local_copies_of(self, stored: StoredFile) -> dict[str, Path]:
        folder = self._local_copies / Path(stored.location).name if _is_folder(stored.location) else self._local_copies
        wanted = self._hashes(stored)
        found = {name: folder / name for name in self._places(stored)}
        for name, location in self._places(stored).items():
            if not found[name].exists():
                self._copy_here(location, found[name], wanted[name])
        return found

    def _copy_here(self, location: str, target: Path, sha256: str) -> None:
        with _as_work_error("copy a stored file to this machine"):
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = target.with_name(f".{new_id()}")
            try:
                self._fs.get_file(location, str(temporary))
                if file_sha256(temporary) != sha256:
                    raise _damaged(location)
                temporary.replace(target)
            finally:
                temporary.unlink(missing_ok=True)

    def _places(self, stored: StoredFile) -> dict[str, str]:
        """Name -> location of each file, the main one first."""
        if not _is_folder(stored.location):
            return {Path(stored.location).name: stored.location}
        manifest = self._manifest(stored.location)
        names = [manifest.main, *(name for name in manifest.files if name != manifest.main)]
        return {name: f"{stored.location}/{FILES}/{name}" for name in names}

    def _hashes(self, stored: StoredFile) -> dict[str, str]:
        if not _is_folder(stored.location):
            return {Path(stored.location).name: stored.sha256}
        return {name: sha256 for name, (sha256, _) in self._manifest(stored.location).files.items()}

    def _manifest(self, location: str) -> Manifest:
        with _as_work_error("read a stored file"):
            content = cast("bytes", self._fs.cat_file(f"{location}/{MANIFEST}"))
        try:
            manifest = Manifest.from_json(content)
        except ValueError as e:
            raise _damaged(location) from e
        if manifest.sha256 != Path(location).name.split(".", 1)[0]:
            raise _damaged(location)
        return manifest

    def _check(self, stored: StoredFile) -> None:
        places, hashes = self._places(stored), self._hashes(stored)
        try:
            seen = tuple((name, *_state(Path(place))) for name, place in places.items())
        except OSError as e:
            raise _damaged(stored.location) from e
        if self._checked.get(stored.sha256) == seen:
            return
        with _as_work_error("read a stored file"):
            for name, place in places.items():
                if file_sha256(Path(place)) != hashes[name]:
                    raise _damaged(stored.location)
        self._checked[stored.sha256] = seen

    def _get(self, sha256: str) -> StoredFile:
        stored = self._find(sha256)
        if stored is None:
            raise NotFoundError(f"The workspace has no file {sha256[:12]}.", hint="Load it again.")
        return stored

    def _find(self, sha256: str) -> StoredFile | None:
        if not _SHA256.fullmatch(sha256):
            return None
        return next(self._list_bucket(sha256[:2], sha256), None)

    def _list_bucket(self, bucket: str, wanted: str | None = None) -> Iterator[StoredFile]:
        for entry in self._entries(bucket):
            location = str(entry["name"])
            sha256 = Path(location).name.split(".", 1)[0]
            if not _SHA256.fullmatch(sha256) or wanted not in (None, sha256):
                continue
            if not _is_folder(location):
                yield StoredFile(sha256, int(entry["size"] or 0), self._modified(location), location)
            elif self._fs.exists(f"{location}/{MANIFEST}"):
                modified = self._modified(f"{location}/{MANIFEST}")
                yield StoredFile(sha256, self._size_of_folder(location), modified, location)

    def _size_of_folder(self, location: str) -> int:
        return int(self._fs.du(f"{location}/{FILES}"))

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
def _as_work_error(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as e:
        hint = "Free some disk space." if e.errno == errno.ENOSPC else None
        raise WorkError(f"The workspace could not {what}: {e.strerror or e}.", hint=hint) from e


def _damaged(location: str) -> WorkError:
    return WorkError(
        f"The stored file {location} no longer has the content it was stored with.",
        hint="Load the model or data again: that repairs it.",
    )


def _is_folder(location: str) -> bool:
    return location.endswith(SUFFIX)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns
