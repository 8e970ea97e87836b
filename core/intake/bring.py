"""Bringing a model into the workspace: one door for every form in which people have it.

An .onnx alone, an .onnx with its weights beside it, several files that were uploaded, a .zip, a folder with one .onnx.
Only what belongs to the model is stored. Files of weights that are missing or unsafe to open are not: the model is
then stored as it is, and whoever loads it says what is wrong.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.errors import ModelError
from core.intake.archive import is_hidden, the_model, unpack
from core.intake.external import data_paths, external_files, plain_name
from core.intake.source import check_size
from core.store.files import ContentFiles
from core.store.files_copying import Told

#: One file, an archive or a folder on this machine; or files by the names under which they were uploaded.
Given = Path | Mapping[str, Path | bytes]
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, slots=True)
class Brought:
    """A stored model: its hash, the name of its .onnx without the ending, and the bytes of all its files.

    `missing` lists files of weights that it names but that were not given; `unused` what was given for nothing.
    """

    sha256: str
    name: str
    size_bytes: int
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def bring(files: ContentFiles, source: Given, *, told: Told | None = None) -> Brought:
    """Stores a model, whatever it comes as.

    Args:
        files: the workspace's files.
        source: the path of an .onnx, .zip or folder, or name -> content of several files (one of them may be a .zip
            if it is alone).
        told: hears (bytes done, bytes in all) while large files are stored.

    Raises:
        ModelError: no such file, no or several .onnx, an archive that is not safe to unpack, a file above 2 GB.
        WorkError: the store cannot be written.
    """
    with ExitStack() as stack:
        given = _opened(source, stack)
        if isinstance(given, Path):
            found = data_paths(external_files(_checked(given.name, given)), given.parent)
            return _store(files, given.name, given, dict(found), told)
        return _bring_several(files, given, told)


def find_onnx(folder: Path) -> Path:
    """The one .onnx in a folder; where none lies directly in it, the one below.

    Raises:
        ModelError: there is none, or several; they are listed.
    """
    names = sorted(path.name for path in folder.iterdir() if path.is_file() and not is_hidden(path.name))
    if not any(name.lower().endswith(".onnx") for name in names):
        below = (path.relative_to(folder) for path in sorted(folder.rglob("*.onnx")) if path.is_file())
        names = [str(path) for path in below if not is_hidden(str(path))]
    return folder / the_model(names, folder.resolve().name)


def is_archive(path: Path) -> bool:
    """Whether a file is a .zip by its ending or its first bytes."""
    if path.suffix.lower() == ".zip":
        return True
    with path.open("rb") as file:
        return file.read(len(_ZIP)) == _ZIP


def _opened(source: Given, stack: ExitStack) -> Given:
    """The source with folders and archives opened."""
    if isinstance(source, Path):
        return _opened_path(source, stack)
    if len(source) == 1:
        name, content = next(iter(source.items()))
        start = content[: len(_ZIP)] if isinstance(content, bytes) else b""
        if start == _ZIP or (isinstance(content, Path) and is_archive(content)):
            return _unpacked(content, name, stack)
    return source


def _opened_path(path: Path, stack: ExitStack) -> Path:
    try:
        if path.is_dir():
            return find_onnx(path)
        if path.is_file():
            return _unpacked(path, path.name, stack) if is_archive(path) else path
    except OSError as e:
        raise ModelError(f"'{path}' cannot be read: {e.strerror}.") from e
    raise ModelError(f"There is no file '{path}'.", hint="Check the path of the model.")


def _unpacked(archive: Path | bytes, name: str, stack: ExitStack) -> Path:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="mixdesk-"))
    return unpack(archive, Path(folder), name=name)


def _bring_several(files: ContentFiles, given: Mapping[str, Path | bytes], told: Told | None) -> Brought:
    main = the_model(list(given), "The selection")
    found: dict[str, Path | bytes] = {}
    used = {main}
    for name in map(plain_name, external_files(_checked(main, given[main]))):
        match = _match(name, given)
        if match is not None and _is_inside(name):
            found[name] = given[match]
            used.add(match)
    return _store(files, main, given[main], found, told, unused=tuple(name for name in given if name not in used))


def _match(name: str, given: Mapping[str, Path | bytes]) -> str | None:
    """The given file of that name; browsers leave folders out of it."""
    if name in given:
        return name
    alike = [other for other in given if PurePosixPath(other).name == PurePosixPath(name).name]
    return alike[0] if len(alike) == 1 else None


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\\" not in name


def _checked(name: str, content: Path | bytes) -> Path | bytes:
    """The content, once it is small enough to be read whole."""
    check_size(name, len(content) if isinstance(content, bytes) else content.stat().st_size)
    return content


def _store(
    files: ContentFiles,
    main: str,
    content: Path | bytes,
    data: Mapping[str, Path | bytes],
    told: Told | None,
    *,
    unused: tuple[str, ...] = (),
) -> Brought:
    """Stores all that belongs together where nothing is missing, else the model alone."""
    plain = PurePosixPath(main)
    named = tuple(dict.fromkeys(map(plain_name, external_files(content))))
    missing = tuple(name for name in named if name not in data)
    if not named or missing:
        sha256 = files.put(content, told=told)
    else:
        stored_as = plain.name if plain.name not in data else "model.onnx"
        sha256 = files.put_folder({stored_as: content, **data}, main=stored_as, told=told)
    return Brought(sha256, plain.stem, files.stat(sha256).size_bytes, missing, unused)
