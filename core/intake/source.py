"""Sources: where a model's bytes come from, and which folder its external data may lie in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from core.errors import ModelError
from core.intake.model import Serialized

#: One protobuf message cannot be larger than this, and a model is one message.
MOST_BYTES = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Source:
    """The bytes of a model file; `folder` is where its external data lies, None when only bytes were given.

    `sha256` is that of the bytes alone.
    """

    name: str
    sha256: str
    data: bytes = field(repr=False)
    folder: Path | None


def read_source(source: str | Path | bytes | Serialized, *, name: str | None = None) -> Source:
    """Reads a model file.

    Raises:
        ModelError: no such file, a folder, a file that cannot be read, or one that is too large for this format.
    """
    if isinstance(source, bytes):
        source = Serialized(source)
    if isinstance(source, Serialized):
        return Source(name or "model", hashlib.sha256(source.data).hexdigest(), source.data, source.folder)
    path = Path(source)
    data = _read_file(path)
    return Source(name or path.stem, hashlib.sha256(data).hexdigest(), data, path.parent.resolve())


def check_size(name: str, size_bytes: int) -> None:
    """Makes sure that a model file can be read at all.

    Raises:
        ModelError: it is larger than one message of the format can be.
    """
    if size_bytes > MOST_BYTES:
        message = f"'{name}' has {size_bytes / 1e9:.1f} GB; one ONNX file cannot hold more than 2 GB."
        raise ModelError(message, hint="Export it with its weights in another file beside it (external data).")


def _read_file(path: Path) -> bytes:
    if path.is_dir():
        raise ModelError(f"'{path}' is a folder, not a model file.", hint="Name the .onnx file inside it.")
    if path.exists() and not path.is_file():
        raise ModelError(f"'{path}' is no regular file.", hint="Give the path of an .onnx file.")
    try:
        check_size(path.name, path.stat().st_size)
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ModelError(f"There is no file '{path}'.", hint="Check the path of the model.") from error
    except OSError as error:
        raise ModelError(f"The file '{path}' cannot be read: {error.strerror}.") from error
