"""The zip of a bundle: members written in a fixed order with a fixed date, read one by one and never trusted.

Models and arrays are stored as they are (they hardly shrink), texts are deflated. Nothing is read into memory whole
unless it is a text of bounded size.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from core.errors import BundleError, NotFoundError
from core.intake.archive import checked_members
from core.report.manifest import FORMAT, MANIFEST, MODEL, REQUIRED, Manifest, Member

_CHUNK_BYTES = 1 << 20
_MOST_TEXT_BYTES = 256 << 20
#: That of a model with thousands of weight files stays far below it.
_MOST_MANIFEST_BYTES = 16 << 20
_DEFLATED = (".json", ".html", ".md", ".py")
_WHAT_IT_IS = "A bundle is what 'mixdesk optimize MODEL -o OUT.o3' writes."
_AGAIN = "Copy or download it again."
_KINDS = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Content:
    """What becomes a member: bytes, or a file that is streamed."""

    name: str
    source: bytes | Path


def write_members(file: BinaryIO, manifest: Manifest, contents: Sequence[Content]) -> None:
    """Writes the members in the given order and the manifest last: equal contents give equal bytes."""
    with zipfile.ZipFile(file, "w") as archive:
        written = [_write(archive, content) for content in contents]
        text = json.dumps(manifest.with_members(written).to_dict(), indent=1, ensure_ascii=False)
        _write(archive, Content(MANIFEST, text.encode()))


def _write(archive: zipfile.ZipFile, content: Content) -> Member:
    entry = zipfile.ZipInfo(content.name)  # dated 1980: the same bundle tomorrow is the same file
    entry.create_system = 3
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED if content.name.endswith(_DEFLATED) else zipfile.ZIP_STORED
    digest, size = hashlib.sha256(), 0
    with _open_source(content.source) as (source, entry.file_size), archive.open(entry, "w") as member:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
            member.write(chunk)
    return Member(content.name, digest.hexdigest(), size)


@contextmanager
def _open_source(source: bytes | Path) -> Iterator[tuple[IO[bytes], int]]:
    if isinstance(source, bytes):
        yield io.BytesIO(source), len(source)
        return
    with source.open("rb") as file:
        yield file, source.stat().st_size


class Container:
    """An open bundle whose structure is sound and whose manifest can be read; the hashes are not checked yet."""

    def __init__(self, path: Path) -> None:
        """Opens it.

        Raises:
            NotFoundError: there is no such file.
            BundleError: no bundle, damaged, of a newer format, or made to harm.
        """
        self.path = path
        self._zip = _open_zip(path)
        try:
            self._entries = _sound_entries(self._zip, path)
            self.manifest = self._read_manifest()
        except BaseException:
            self._zip.close()
            raise

    def close(self) -> None:
        """Closes the file."""
        self._zip.close()

    def changes(self) -> tuple[str, ...]:
        """What is not as it was written, one sentence each; empty where every hash is right."""
        found = [] if self.manifest.sealed else [f"{MANIFEST} was changed after the bundle was written."]
        known = {member.name for member in self.manifest.members}
        found += [self._change(member) for member in self.manifest.members]
        found += [f"{name} was added to the bundle." for name in self._entries if name not in known | {MANIFEST}]
        found += [f"{name} is missing from the bundle." for name in REQUIRED if name not in known]
        return tuple(sentence for sentence in found if sentence)

    def _change(self, member: Member) -> str:
        entry = self._entries.get(member.name)
        if entry is None:
            return f"{member.name} is missing from the bundle."
        if entry.file_size != member.size_bytes:
            return f"{member.name} was changed: it has {entry.file_size} bytes, not {member.size_bytes}."
        digest = hashlib.sha256()
        try:
            with self._zip.open(entry) as source:
                while chunk := source.read(_CHUNK_BYTES):
                    digest.update(chunk)
        except _DAMAGE:
            return f"{member.name} is damaged."
        return "" if digest.hexdigest() == member.sha256 else f"{member.name} was changed: its hash is another."

    def read(self, name: str) -> bytes:
        """A member's content, checked against its hash.

        Raises:
            BundleError: it is not as it was written, or a text too large to be one.
        """
        entry = self._entries[name]
        if name.endswith(_DEFLATED) and entry.file_size > _MOST_TEXT_BYTES:
            raise BundleError(f"'{self.path.name}' holds a text of {entry.file_size / 1e9:.1f} GB, '{name}'.")
        member = self.manifest.member(name)
        change = "" if member is None else self._change(member)
        if change:
            raise altered(self.path, (change,))
        return self._zip.read(entry)

    def read_json(self, name: str) -> dict[str, Any]:
        """A member as a JSON object; errors as `read`."""
        try:
            value = json.loads(self.read(name))
        except (ValueError, RecursionError) as error:
            raise BundleError(f"'{self.path.name}' is damaged: {name} is not JSON ({error}).", hint=_AGAIN) from error
        if not isinstance(value, dict):
            raise BundleError(f"'{self.path.name}' is damaged: {name} is no JSON object.", hint=_AGAIN)
        return value

    def unpack(self, names: Sequence[str], folder: Path) -> None:
        """Writes members to a folder; external weights keep their place beside the model.

        Raises:
            BundleError: there is not enough room.
        """
        wanted = sum(self._entries[name].file_size for name in names)
        free = shutil.disk_usage(folder).free
        if wanted > free:
            message = f"'{self.path.name}' unpacks to {wanted / 1e9:.1f} GB, but only {free / 1e9:.1f} GB are free."
            raise BundleError(message, hint="Free some disk space, or set TMPDIR to a larger folder.")
        for name in names:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._zip.open(self._entries[name]) as source, target.open("wb") as file:
                shutil.copyfileobj(source, file, _CHUNK_BYTES)

    def has(self, name: str) -> bool:
        """Whether the bundle was written with this member."""
        return self.manifest.member(name) is not None and name in self._entries

    def _read_manifest(self) -> Manifest:
        if MANIFEST not in self._entries:
            if min((entry.header_offset for entry in self._entries.values()), default=0) > 0:
                raise _cut_off(self.path)  # a zip inside it was found in its place
            raise BundleError(f"'{self.path.name}' is no bundle: it has no {MANIFEST}.", hint=_WHAT_IT_IS)
        try:
            given = json.loads(self._manifest_text())
            if not isinstance(given, dict):
                raise TypeError(f"it is {_KINDS.get(type(given), 'a number')}, not a JSON object")
            newest = given["format"]
            if isinstance(newest, int) and newest > FORMAT:
                message = f"'{self.path.name}' is a bundle of format {newest}; this version reads format {FORMAT}."
                raise BundleError(message, hint="Update Mixdesk, or have the bundle written by an older version.")
            return Manifest.from_dict(given)
        except BundleError:
            raise
        except (*_DAMAGE, TypeError, KeyError, AttributeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            message = f"'{self.path.name}' is damaged: its {MANIFEST} cannot be read ({reason})."
            raise BundleError(message, hint=_AGAIN) from error

    def _manifest_text(self) -> bytes:
        """What is in the manifest; never more than one has is unpacked, whatever the zip says of its size."""
        entry = self._entries[MANIFEST]
        size = entry.file_size
        if size <= _MOST_MANIFEST_BYTES:
            with self._zip.open(entry) as source:
                text = source.read(_MOST_MANIFEST_BYTES + 1)
            size = len(text)
            if size <= _MOST_MANIFEST_BYTES:
                return text
        message = f"'{self.path.name}' is no bundle: its {MANIFEST} has {size / 1e6:.0f} MB, more than any manifest."
        raise BundleError(message, hint="Do not trust it.")


def altered(path: Path, changes: Sequence[str]) -> BundleError:
    """The error of a bundle that is not as it was written."""
    more = f" ({len(changes) - 1} more)" if len(changes) > 1 else ""
    return BundleError(f"'{path.name}' is not as it was written: {changes[0]}{more}", hint=_AGAIN)


def _open_zip(path: Path) -> zipfile.ZipFile:
    if path.is_dir():
        raise BundleError(f"'{path}' is a folder, not a bundle.", hint="Name the .o3 file.")
    try:
        return zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file '{path}'.", hint=_WHAT_IT_IS) from error
    except PermissionError as error:
        raise BundleError(f"'{path}' cannot be read: {error.strerror}.") from error
    except _DAMAGE as error:
        raise _no_zip(path) from error


def _cut_off(path: Path) -> BundleError:
    return BundleError(f"'{path.name}' is damaged: its end is missing or broken.", hint=_AGAIN)


def _no_zip(path: Path) -> BundleError:
    with path.open("rb") as file:
        start = file.read(4)
    if not start:
        return BundleError(f"'{path.name}' is empty.", hint=_AGAIN)
    if start == b"PK\x03\x04":
        return _cut_off(path)
    return BundleError(f"'{path.name}' is no bundle: it is not a zip archive.", hint=_WHAT_IT_IS)


def _sound_entries(archive: zipfile.ZipFile, path: Path) -> dict[str, zipfile.ZipInfo]:
    """All entries by name, once none of them can do harm.

    Raises:
        BundleError: names that lead out, links, entries twice, encryption, more than could be meant.
    """
    checked_members(archive, name=path.name, error=BundleError)
    entries = {entry.filename: entry for entry in archive.infolist()}
    if len(entries) < len(archive.infolist()):
        raise BundleError(f"'{path.name}' holds several members of one name.", hint="Do not trust it.")
    return entries


def model_members(manifest: Manifest) -> tuple[str, ...]:
    """`model.onnx` and the files with its weights."""
    return (MODEL, *manifest.external)
