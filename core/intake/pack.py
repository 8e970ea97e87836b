"""Packing: a model whose weights lie in other files is written anew, with just the weights that it still uses.

All large weights go into one file beside the model, each at the start of a memory page so that it can be mapped. They
are copied in pieces, from file to file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx

from core.errors import WorkError
from core.intake.external import (
    SMALL_BYTES,
    byte_range,
    data_paths,
    external_files,
    is_external,
    location_of,
    place,
    sha256_of,
)
from core.intake.model import Openable, Serialized
from core.intake.protos import graphs_of
from core.store.atomic import written_whole
from core.store.files import ContentFiles
from core.store.files_copying import Content, open_source

_PAGE_BYTES = 4096
_DATA = ".data"
_STORED_AS = "model.onnx"
_CHUNK_BYTES = 1 << 20
#: Where one weight lies now: its bytes, or (file, offset, length).
_Place = bytes | tuple[Path, int, int]


def pack(model: Serialized, *, name: str = _STORED_AS) -> dict[str, Content]:
    """Name -> content of the files that a model is written as: `name`, and `name`.data where it had files of weights.

    The contents are made while they are read, once.
    """
    if model.folder is None:
        return {name: model.data}
    data, places, _ = _lay_out(model.data, model.folder, name)
    return {name: data, f"{name}{_DATA}": _pieces(places)}


def size_of(model: Openable) -> int:
    """Bytes of a model with all its files; of an edited one those that it will have once it is stored."""
    if isinstance(model, bytes):
        return len(model)
    if isinstance(model, Path):
        return model.stat().st_size + _size_beside(external_files(model), model.parent)
    if model.folder is None:
        return len(model.data)
    if not model.edited:
        return len(model.data) + _size_beside(external_files(model.data), model.folder)
    data, _, end = _lay_out(model.data, model.folder, _STORED_AS)
    return len(data) + end


def _size_beside(names: tuple[str, ...], folder: Path) -> int:
    return sum(path.stat().st_size for path in data_paths(names, folder).values())


def _lay_out(data: bytes, folder: Path, name: str) -> tuple[bytes, dict[int, _Place], int]:
    """The model's own file, offset -> what lies there in the file of weights, and the length of that file."""
    proto = onnx.ModelProto.FromString(data)
    places: dict[int, _Place] = {}
    known: dict[_Place, int] = {}
    end = 0
    for graph in graphs_of(proto.graph):
        for tensor in graph.initializer:
            found = _place(tensor, folder)
            if found is None:
                continue
            length = len(found) if isinstance(found, bytes) else found[2]
            if found not in known:
                known[found] = -(-end // _PAGE_BYTES) * _PAGE_BYTES
                places[known[found]] = found
                end = known[found] + length
            _point(tensor, f"{name}{_DATA}", known[found], length)
    return proto.SerializeToString(), places, end


def put_serialized(files: ContentFiles, model: Serialized) -> str:
    """Stores a model, in one file or several, and returns its hash.

    Raises:
        WorkError: the store cannot be written.
    """
    if model.folder is None:
        return files.put(model.data)
    if not model.edited and files.has(known := sha256_of(model)):  # the original: its weights are not stored twice
        return known
    return files.put_folder(pack(model), main=_STORED_AS)


def write_stored(files: ContentFiles, sha256: str, out: Path) -> tuple[Path, ...]:
    """Writes a stored model to a file; its large weights, where it is in several files, to OUT.data beside it.

    Returns:
        the files written, the model first. Each is replaced in one step.

    Raises:
        NotFoundError: there is no such model.
        WorkError: it cannot be written there.
    """
    main, *others = files.members(sha256).values()
    parts = pack(Serialized(main.read_bytes(), main.parent), name=out.name) if others else {out.name: main}
    written = {name: out.parent / name for name in parts}
    try:
        for name, content in reversed(parts.items()):  # the model last: it is never there without its weights
            with open_source(content) as source, written_whole(written[name]) as target:
                while piece := source.read(_CHUNK_BYTES):
                    target.write(piece)
    except OSError as error:
        raise WorkError(f"'{out}' cannot be written: {error.strerror or error}.") from error
    return tuple(written.values())


def data_beside(out: Path) -> Path:
    """Where the large weights of a model lie that is written there, if it is written in two files."""
    return out.with_name(f"{out.name}{_DATA}")


def _place(tensor: onnx.TensorProto, folder: Path) -> _Place | None:
    """Where a large weight lies; None for small ones, which stay in the model's own file."""
    if is_external(tensor):
        path = place(folder, location_of(tensor))
        if path is None:
            raise WorkError(f"The weight '{tensor.name}' lies outside the model's folder.")
        return (path, *byte_range(tensor))
    return tensor.raw_data if len(tensor.raw_data) >= SMALL_BYTES else None


def _point(tensor: onnx.TensorProto, location: str, offset: int, length: int) -> None:
    """Makes a weight refer to its place in the file of weights."""
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        tensor.external_data.add(key=key, value=value)


def _pieces(places: dict[int, _Place]) -> Iterator[bytes]:
    """The file of weights from its start, in pieces; between weights are zeros."""
    at = 0
    for offset, found in sorted(places.items(), key=lambda item: item[0]):
        if offset > at:
            yield bytes(offset - at)
        at = offset
        for piece in _read(found):
            at += len(piece)
            yield piece


def _read(found: _Place) -> Iterator[bytes]:
    if isinstance(found, bytes):
        yield from (found[start : start + _CHUNK_BYTES] for start in range(0, len(found), _CHUNK_BYTES))
        return
    path, offset, left = found
    with path.open("rb") as file:
        file.seek(offset)
        while left:
            piece = file.read(min(left, _CHUNK_BYTES))
            if not piece:
                raise WorkError(f"The file '{path.name}' with the weights became shorter while it was read.")
            left -= len(piece)
            yield piece
