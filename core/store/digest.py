"""Digests: the SHA-256 of a file or of several together, read in pieces; a large file is read once per process."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

#: Smaller files are read again each time: that costs nothing and sees every change.
_REMEMBERED_BYTES = 16 << 20
_seen: dict[tuple[str, int, int, int], str] = {}


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's content; that of a large file is kept until its size, time or inode changes.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        state = path.stat()
        key = (str(path.resolve()), state.st_size, state.st_mtime_ns, state.st_ino)
        if key in _seen:
            return _seen[key]
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if state.st_size >= _REMEMBERED_BYTES:
        _seen[key] = digest
    return digest


def folder_sha256(main: str, others: Mapping[str, str]) -> str:
    """The hash of several files as one thing.

    Args:
        main: hash of the main file; its name does not count, so that a renamed model stays the same model.
        others: name -> hash of the files beside it; their names count, since the main file refers to them.
    """
    text = json.dumps({"main": main, "files": dict(others)}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
