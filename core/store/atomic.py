"""Writing a file in one step: whoever looks sees the old file or the whole new one, never half of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_READ_WRITE = 0o666


@contextmanager
def written_whole(out: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `out` when the block ends well and vanishes when it does not.

    Raises:
        OSError: the folder cannot be written.
    """
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
        part.chmod(_READ_WRITE & ~_umask())
        part.replace(out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
