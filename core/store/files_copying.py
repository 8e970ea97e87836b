"""Copying into the store: opening what is given, and telling how far a large copy is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from core.errors import RequestError

#: What can be stored: bytes, a file, or bytes in pieces (none of them empty), made while they are stored.
Content = bytes | Path | Iterable[bytes]

#: Is told (bytes done, bytes in all) while files are stored; what it raises ends the storing.
Told = Callable[[int, int], None]


class Counter:
    """Counts stored bytes over several files and tells of them."""

    def __init__(self, told: Told | None, files: Iterable[Content] = ()) -> None:
        self._told = told
        self._done = 0
        self._total = 0 if told is None else sum(_length(data) for data in files)

    def add(self, count: int) -> None:
        """Some more bytes are stored."""
        self._done += count
        if self._told is not None:
            self._told(self._done, max(self._total, self._done))


SILENT = Counter(None)


class Readable(Protocol):
    """What gives its bytes in pieces, and none at its end."""

    def read(self, size: int, /) -> bytes:
        """The next bytes: about so many."""


@contextmanager
def open_source(data: Content) -> Iterator[Readable]:
    """Bytes, a file or pieces, to be read.

    Raises:
        RequestError: the file cannot be read.
    """
    if isinstance(data, bytes):
        yield io.BytesIO(data)
    elif isinstance(data, Path):
        with _open_file(data) as file:
            yield file
    else:
        yield _Pieces(data)


def _open_file(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as e:
        raise RequestError(f"{path} cannot be read ({e.strerror}).") from e


class _Pieces:
    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    def read(self, _: int, /) -> bytes:
        """The next piece, whatever its size."""
        return next(self._pieces, b"")


def _length(data: Content) -> int:
    """Bytes, where they can be told beforehand."""
    if isinstance(data, bytes):
        return len(data)
    return data.stat().st_size if isinstance(data, Path) and data.is_file() else 0
