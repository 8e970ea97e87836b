"""Sources: where a model's bytes come from, and which folder its external data may lie in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import ModelError


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a model file; `folder` is where its external data lies, None when only bytes were given."""

    name: str
    sha256: str
    data: bytes = field(repr=False)
    folder: Path | None


def read_source(source: str | Path | bytes, *, name: str | None = None) -> Source:
    """Reads a model file.

    Raises:
        ModelError: no such file, a folder, or a file that cannot be read.
    """
    if isinstance(source, bytes):
        return Source(name or "model", hashlib.sha256(source).hexdigest(), source, None)
    path = Path(source)
    data = _read_file(path)
    return Source(name or path.stem, hashlib.sha256(data).hexdigest(), data, path.resolve().parent)


def _read_file(path: Path) -> bytes:
    if path.is_dir():
        raise ModelError(f"'{path}' is a folder, not a model file.", hint="Name the .onnx file inside it.")
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"There is no file '{path}'.", hint="Check the path of the model.") from error
    except OSError as error:
        raise ModelError(f"The file '{path}' cannot be read: {error.strerror}.") from error
