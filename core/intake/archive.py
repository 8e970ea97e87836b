"""Archives: a .zip is opened only where nothing in it can leave its folder or fill the disk."""

from __future__ import annotations

import io
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from core.errors import ModelError, RequestError

#: What one archive may unpack to; larger models come as files.
MOST_BYTES = 32 << 30
#: What is smaller is never taken for a bomb, however well it packs.
HARMLESS_BYTES = 200 << 20
#: Real weights and pictures pack to a third at best, all-zero ones to a thousandth.
MOST_RATIO = 100
MOST_MEMBERS = 20_000
_CHUNK_BYTES = 1 << 20
_DRIVE = re.compile(r"[A-Za-z]:")
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, KeyError, NotImplementedError)
_PACK_AGAIN = "Pack the files again, without links and with plain relative names."


def unpack(source: Path | bytes, into: Path, *, name: str | None = None) -> Path:
    """Unpacks a .zip with one model and returns the path of its .onnx, its weights beside it as packed.

    Args:
        source: the archive.
        into: an existing folder; on an error some of the files may lie there.
        name: what to call the archive in messages; the file's name if not given.

    Raises:
        ModelError: it is damaged, encrypted or unsafe to unpack, or does not hold exactly one .onnx.
    """
    called = name or (source.name if isinstance(source, Path) else "the archive")
    with open_archive(source, name=called) as archive:
        members = checked_members(archive, name=called)
        model = the_model([member.filename for member in members], called)
        _check_room(members, into, called)
        for member in members:
            _write(archive, member, into / member.filename, called)
    return into / model


@contextmanager
def open_archive(
    source: Path | bytes, *, name: str, error: type[RequestError] = ModelError
) -> Iterator[zipfile.ZipFile]:
    """Opens a .zip for reading.

    Raises:
        ModelError (or `error`): it is no archive, or damaged.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(source) if isinstance(source, bytes) else source)
    except FileNotFoundError as e:
        raise error(f"There is no file '{name}'.") from e
    except _DAMAGE as e:
        hint = "Compare its size with the original and copy or download it again."
        raise error(f"'{name}' is not a readable .zip archive: it is cut off or damaged.", hint=hint) from e
    with archive:
        yield archive


def checked_members(
    archive: zipfile.ZipFile, *, name: str, error: type[RequestError] = ModelError, most_members: int | None = None
) -> tuple[zipfile.ZipInfo, ...]:
    """The archive's files, in its order; folders, hidden files and what macOS adds are left out.

    Raises:
        ModelError (or `error`): a name that leads out of the folder, a link or device, a password, a repeated name,
            or contents that no real model or data unpack to.
    """
    most = MOST_MEMBERS if most_members is None else most_members
    listed = archive.infolist()
    for member in listed:
        problem = _problem(member)
        if problem is not None:
            raise error(f"'{name}' is not unpacked: {problem}.", hint=_PACK_AGAIN)
    members = tuple(member for member in listed if not member.is_dir() and not is_hidden(member.filename))
    names = {member.filename for member in members}
    if len(names) < len(members):
        raise error(f"'{name}' is not unpacked: it holds several files of one name.", hint=_PACK_AGAIN)
    total, packed = sum(member.file_size for member in members), sum(member.compress_size for member in members)
    if total > MOST_BYTES or len(members) > most:
        raise error(
            f"'{name}' is not unpacked: it holds {len(members):,} files of {total / 1e9:.1f} GB;"
            f" at most {most:,} files and {MOST_BYTES / 1e9:.0f} GB are.",
            hint="Unpack it yourself and give the path of what is in it.",
        )
    if total > HARMLESS_BYTES and total > MOST_RATIO * max(packed, 1):
        raise error(
            f"'{name}' is not unpacked: {packed / 1e6:.1f} MB would become {total / 1e6:,.0f} MB, as in a zip bomb.",
            hint="If you trust it, unpack it yourself and give the path of what is in it.",
        )
    return members


def read_member(
    archive: zipfile.ZipFile,
    member: zipfile.ZipInfo,
    *,
    most_bytes: int,
    name: str,
    error: type[RequestError] = ModelError,
) -> bytes:
    """One file's content; never more than `most_bytes` are held.

    Raises:
        ModelError (or `error`): it is larger, or damaged.
    """
    content = bytearray()
    for chunk in _chunks(archive, member, name, error):
        content += chunk
        if len(content) > most_bytes:
            size = f"{most_bytes / 1e6:.0f} MB"
            raise error(f"'{member.filename}' in '{name}' is larger than {size}.", hint="Pack a smaller file.")
    return bytes(content)


def the_model(names: list[str], where: str) -> str:
    """The one name that ends in .onnx.

    Raises:
        ModelError: there is none, or several; they are listed.
    """
    models = sorted(name for name in names if name.lower().endswith(".onnx"))
    if len(models) == 1:
        return models[0]
    if models:
        shown = ", ".join(f"'{name}'" for name in models[:5]) + (" and more" if len(models) > 5 else "")
        raise ModelError(f"'{where}' holds {len(models)} models: {shown}.", hint="Give one .onnx and its data files.")
    arrays = bool(names) and all(name.endswith(".npy") for name in names)
    hint = "Arrays are data: give them with --data, or under Data." if arrays else "Pack the .onnx with its data files."
    raise ModelError(f"'{where}' holds no .onnx file.", hint=hint)


def is_hidden(name: str) -> bool:
    """Whether a file or one of its folders is hidden, or is what macOS adds to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _problem(member: zipfile.ZipInfo) -> str | None:
    """Why a member must not be unpacked, as the end of a sentence, or None."""
    path = PurePosixPath(member.filename)
    if path.is_absolute() or ".." in path.parts or "\\" in member.filename or _DRIVE.match(member.filename):
        return f"'{member.filename[:200]}' would be written outside the folder"
    mode = member.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return f"'{member.filename[:200]}' is a {'link' if kind == stat.S_IFLNK else 'device'}, not a file"
    if member.flag_bits & 0x1:
        return f"'{member.filename[:200]}' is protected by a password"
    return None


def _check_room(members: tuple[zipfile.ZipInfo, ...], into: Path, name: str) -> None:
    total, free = sum(member.file_size for member in members), shutil.disk_usage(into).free
    if total > free:
        message = f"'{name}' unpacks to {total / 1e9:.1f} GB, but only {free / 1e9:.1f} GB of the disk are free."
        raise ModelError(message, hint="Free some disk space.")


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, name: str) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            for chunk in _chunks(archive, member, name, ModelError):
                file.write(chunk)
    except OSError as e:
        message = f"'{name}' cannot be unpacked: '{member.filename[:200]}' cannot be written ({e.strerror})."
        raise ModelError(message, hint="Free some disk space, or pack the files again under plain names.") from e


def _chunks(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, error: type[RequestError]) -> Iterator[bytes]:
    """A member's content in pieces: as many bytes as the archive's list says, with the right checksum, or an error."""
    try:
        with archive.open(member) as file:
            read = 0
            while chunk := file.read(_CHUNK_BYTES):
                read += len(chunk)
                yield chunk
        if read != member.file_size:
            raise EOFError(member.filename)
    except (*_DAMAGE, RuntimeError) as e:
        message = f"'{member.filename[:200]}' in '{name}' cannot be unpacked: damaged, or packed in an unknown way."
        raise error(message, hint="Pack it again, or copy or download it again.") from e
