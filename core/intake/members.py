"""Members: the files of a folder, of a zip or one alone, by name; read one at a time, never unpacked to disk."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from core.errors import DataError
from core.intake.archive import checked_members, is_hidden, open_archive, read_member

Kind = Literal["npz", "images", "audio", "text"]

#: More than one photo, song or table has; a file beyond it is told as unreadable.
MOST_FILE_BYTES = 512_000_000
MOST_FILES = 1_000_000

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm")
AUDIO_SUFFIXES = (".wav", ".wave")
TABLE_SUFFIXES = (".csv", ".tsv")
TEXT_SUFFIXES = (".txt", ".text")
_BINARY_SUFFIXES = (".json", ".onnx", ".npz", ".npy", ".zip", ".md", ".pdf", ".html", ".xml", ".yaml", ".yml")
TOKENIZER = "tokenizer.json"
NAMED, _NAME_LENGTH = 3, 80
_HOW = "Give an .npz, or a folder or .zip of images, of .wav files or of texts (.csv, .tsv, .txt)."


class UnreadableError(DataError):
    """One file of many cannot be read: it is left out and told, the others are taken."""


@dataclass(frozen=True, slots=True)
class Members:
    """Names (with "/" between folders, sorted) of the files of a source, and the way to read one."""

    label: str
    names: tuple[str, ...]
    paths: Mapping[str, Path] = field(default_factory=dict, repr=False)
    archive: zipfile.ZipFile | None = field(default=None, repr=False)
    infos: Mapping[str, zipfile.ZipInfo] = field(default_factory=dict, repr=False)

    def read(self, name: str, *, most_bytes: int = MOST_FILE_BYTES) -> bytes:
        """The content of one file.

        Raises:
            UnreadableError: it is larger than `most_bytes`, damaged, or gone.
        """
        if self.archive is not None:
            info = self.infos[name]
            return read_member(self.archive, info, most_bytes=most_bytes, name=self.label, error=UnreadableError)
        try:
            with self.paths[name].open("rb") as file:
                data = file.read(most_bytes + 1)
        except OSError as error:
            raise UnreadableError(f"The file '{name}' cannot be read: {error.strerror}.") from error
        if len(data) > most_bytes:
            raise UnreadableError(f"The file '{name}' is larger than {most_bytes / 1e6:.0f} MB.")
        return data

    def having(self, suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """The names that end so."""
        return tuple(name for name in self.names if name.lower().endswith(suffixes))

    def texts(self) -> tuple[str, ...]:
        """The names of text files: .txt or an ending of no known kind; a README is none, where there are others."""
        known = (*IMAGE_SUFFIXES, *AUDIO_SUFFIXES, *TABLE_SUFFIXES, *_BINARY_SUFFIXES)
        found = tuple(name for name in self.names if not name.lower().endswith(known))
        told = tuple(name for name in found if not PurePosixPath(name).name.lower().startswith(("readme", "licen")))
        return told or found


@contextmanager
def open_members(source: Path, *, name: str | None = None) -> Iterator[Members]:
    """Opens a folder, a zip or a single file.

    Args:
        source: its path.
        name: how to call it in messages, where the path is not what the user gave.

    Raises:
        DataError: there is nothing, the file is empty, or the archive is damaged or hostile.
    """
    label = name or source.name
    if source.is_dir():
        paths = _walk(source)
        yield Members(label, tuple(sorted(paths)), paths=paths)
        return
    if not source.is_file():
        raise DataError(f"There is no file or folder '{source}'.", hint="Check the path of the data.")
    if not source.stat().st_size:
        raise DataError(f"'{label}' is empty: the file has zero bytes.", hint="Copy or download it again.")
    if not zipfile.is_zipfile(source) and not label.lower().endswith(".zip"):
        inner = label if Path(label).suffix else source.name
        yield Members(label, (inner,), paths={inner: source})
        return
    with open_archive(source, name=label, error=DataError) as archive:
        infos = {
            info.filename: info
            for info in checked_members(archive, name=label, error=DataError, most_members=MOST_FILES)
        }
        yield Members(label, tuple(sorted(infos)), archive=archive, infos=infos)


def kind_of(source: Path, *, name: str | None = None) -> Kind:
    """What a source of data holds.

    Raises:
        DataError: nothing that is known here.
    """
    with open_members(source, name=name) as members:
        return kind_of_members(members)


def kind_of_members(members: Members) -> Kind:
    """As `kind_of`, of what is open already."""
    if members.archive is not None and members.names and all(name.endswith(".npy") for name in members.names):
        return "npz"
    if len(members.names) == 1 and members.archive is None and members.names[0].lower().endswith(".npz"):
        return "npz"  # whatever it is: the reader of NPZ says what is wrong with it
    counts: dict[Kind, int] = {
        "images": len(members.having(IMAGE_SUFFIXES)),
        "audio": len(members.having(AUDIO_SUFFIXES)),
    }
    kind = max(counts, key=lambda each: counts[each])
    if counts[kind]:
        return kind
    if members.having(TABLE_SUFFIXES) or members.texts():
        return "text"
    raise DataError(f"'{members.label}' holds no images, no sound and no text, but {held(members.names)}.", hint=_HOW)


def held(names: Sequence[str], count: int | None = None) -> str:
    """A few of the files by name, and how many more (of `count`): "'a.bin', 'b/c.dat', 'd' and 3 more"."""
    more = (len(names) if count is None else count) - NAMED
    shown = ", ".join(f"'{name[:_NAME_LENGTH]}'" for name in names[:NAMED]) or "nothing"
    return f"{shown} and {more} more" if more > 0 else shown


def _walk(folder: Path) -> dict[str, Path]:
    """Every file of a folder by its name below it; hidden ones and links that lead out of it are left out."""
    inside = folder.resolve()
    found: dict[str, Path] = {}
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            path = Path(parent) / name
            relative = path.relative_to(folder).as_posix()
            if not is_hidden(relative) and path.resolve().is_relative_to(inside) and path.is_file():
                found[relative] = path
        if len(found) > MOST_FILES:
            raise DataError(f"The folder '{folder}' holds more than {MOST_FILES:,} files.", hint="Give a smaller one.")
    return found
