"""Folders of the server that its owner allowed: which model and data files really lie in them.

`MIXDESK_MODEL_FOLDERS` names them, separated as in PATH. A link counts only where it leads to a file inside the same
folder; linked folders and hidden ones are not entered. People see a folder's name, never where it is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from core.errors import NotFoundError, RequestError, did_you_mean

FOLDERS_VARIABLE = "MIXDESK_MODEL_FOLDERS"
MODEL_SUFFIXES = (".onnx", ".zip")
DATA_SUFFIXES = (".npz", ".zip", ".wav", ".csv", ".tsv", ".txt")
SUFFIXES = tuple(dict.fromkeys((*MODEL_SUFFIXES, *DATA_SUFFIXES)))
#: A listing ends here and says so.
MOST_FILES = 2000
_MOST_LOOKED_AT = 50_000
#: What follows a model's full name in the name of the file with its weights.
_WEIGHTS_ENDINGS = (".data", "_data", ".weights", ".bin")


@dataclass(frozen=True, slots=True)
class AllowedFolder:
    """A folder that the owner allowed; `name` is what people see and choose by."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class ServerFile:
    """A file in an allowed folder: its path below it, with slashes, and the bytes of it and of weights beside it."""

    path: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Files of one folder by their path; `complete` is False where there are more than are listed."""

    files: tuple[ServerFile, ...]
    complete: bool = True


def allowed_folders(text: str | None = None) -> tuple[AllowedFolder, ...]:
    """The folders that the owner allowed, each under a name of its own; by default those of the environment."""
    given = os.environ.get(FOLDERS_VARIABLE, "") if text is None else text
    found: dict[str, Path] = {}
    for part in given.split(os.pathsep):
        if part.strip():
            path = Path(part.strip()).expanduser().resolve()
            if path not in found.values():
                found[_free_name(path.name or "root", found)] = path
    return tuple(AllowedFolder(name, path) for name, path in found.items())


def check_folder(path: Path) -> Path:
    """The folder as an owner names it.

    Raises:
        RequestError: it is no folder, or cannot be looked into.
    """
    resolved = path.expanduser().resolve()
    if not resolved.is_dir():
        raise RequestError(
            f"'{path}' is no folder.", hint="--folder names a folder with models that browsers may open."
        )
    if os.pathsep in str(resolved):
        raise RequestError(f"The path '{path}' has a '{os.pathsep}' in it.", hint="Give that folder another name.")
    if not os.access(resolved, os.R_OK | os.X_OK):
        raise RequestError(f"The folder '{path}' cannot be read.", hint="Let the server's user read it.")
    return resolved


def list_files(folder: AllowedFolder, suffixes: Collection[str] = SUFFIXES, *, most: int = MOST_FILES) -> Listing:
    """The files below a folder that end so, by their path; what cannot be read is left out.

    Raises:
        RequestError: the folder is not there (any more).
    """
    if not folder.path.is_dir():
        raise RequestError(f"The folder '{folder.name}' is not there.", hint="The server's owner may have moved it.")
    files: list[ServerFile] = []
    for looked_at, entry in enumerate(_walk(folder.path)):
        if looked_at >= _MOST_LOOKED_AT or len(files) >= most:
            return Listing(tuple(sorted(files, key=_by_path)), complete=False)
        path = Path(entry.path)
        if path.suffix.lower() in suffixes and _is_inside(path, folder.path):
            files.append(ServerFile(path.relative_to(folder.path).as_posix(), _size(path)))
    return Listing(tuple(sorted(files, key=_by_path)))


def find_inside(folder_name: str, relative: str, *, folders: Collection[AllowedFolder] | None = None) -> Path:
    """The file of an allowed folder; judged anew, whatever was listed before.

    Raises:
        NotFoundError: no such folder or file.
        RequestError: it leads out of the folder, or is of another kind.
    """
    known = {folder.name: folder for folder in (allowed_folders() if folders is None else folders)}
    if folder_name not in known:
        message = f"The server's owner allows no folder '{folder_name}'.{did_you_mean(folder_name, known)}"
        raise NotFoundError(message, hint=f"Folders are allowed with --folder or {FOLDERS_VARIABLE}.")
    root = known[folder_name].path
    parts = PurePosixPath(relative).parts
    leads_out = "\x00" in relative or not parts or parts[0] == "/" or ".." in parts
    if leads_out or not (root / relative).resolve().is_relative_to(root):
        raise RequestError(f"'{relative}' leads out of the folder '{folder_name}', which is not allowed.")
    if PurePosixPath(relative).suffix.lower() not in SUFFIXES or any(part.startswith(".") for part in parts):
        raise RequestError(f"'{relative}' is no model or data file.", hint=f"Kinds: {', '.join(SUFFIXES)}.")
    path = root / relative
    if not path.is_file():
        raise NotFoundError(f"The folder '{folder_name}' has no file '{relative}'.", hint="It may have been moved.")
    return path


def _walk(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Entries that are files (or links), nearest folders first; linked and hidden folders are not entered."""
    waiting = [str(folder)]
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.pop(0)), key=lambda entry: entry.name)
        except OSError:
            continue  # not ours to read: left out, as documented
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry


def _is_inside(path: Path, root: Path) -> bool:
    try:
        real = path.resolve(strict=True)
    except (OSError, RuntimeError):  # a link to nowhere, or to itself
        return False
    return real.is_relative_to(root) and real.is_file()


def _size(path: Path) -> int:
    beside = (path.with_name(path.name + ending) for ending in _WEIGHTS_ENDINGS)
    return path.stat().st_size + sum(other.stat().st_size for other in beside if other.is_file())


def _by_path(file: ServerFile) -> tuple[str, str]:
    return file.path.lower(), file.path


def _free_name(wanted: str, taken: Collection[str]) -> str:
    number, name = 1, wanted
    while name in taken:
        number += 1
        name = f"{wanted} ({number})"
    return name
