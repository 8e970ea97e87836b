"""Copying into the store: opening what is given, and telling how far a large copy is."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import RequestError

#: Is told (bytes done, bytes in all) while files are stored; what it raises ends the storing.
Told = Callable[[int, int], None]


class Counter:
    """Counts stored bytes over several files and tells of them."""

    def __init__(self, told: Told | None, files: Iterable[Path | bytes] = ()) -> None:
        self._told = told
        self._done = 0
        self._total = 0 if told is None else sum(_length(data) for data in files)

    def add(self, count: int) -> None:
        """Some more bytes are stored."""
        self._done += count
        if self._told is not None:
            self._told(self._done, max(self._total, self._done))


SILENT = Counter(None)


@contextmanager
def open_source(data: bytes | Path) -> Iterator[BinaryIO]:
    """Bytes or a file, to be read in pieces.

    Raises:
        RequestError: the file cannot be read.
    """
    if isinstance(data, bytes):
        yield io.BytesIO(data)
        return
    try:
        file = data.open("rb")
    except OSError as e:
        raise RequestError(f"{data} cannot be read ({e.strerror}).") from e
    with file:
        yield file


def _length(data: Path | bytes) -> int:
    if isinstance(data, bytes):
        return len(data)
    return data.stat().st_size if data.is_file() else 0
