"""External data: weights that a model keeps in other files. They may lie in the model's own folder only.

They are mapped, never copied whole: a graph holds their place, and whoever needs one weight reads that one. What is
tiny (shapes, axes) or lies where the runtime does not look for it (attributes) is read when the model is loaded.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

import onnx
from google.protobuf.message import DecodeError

from core.intake.model import Finding, Serialized
from core.intake.protos import graphs_of, nodes_of, tensors_in
from core.intake.weights import bits_of, is_known_type
from core.store.digest import file_sha256, folder_sha256

#: Smaller weights are read at once: shapes and axes are, and inference needs them.
SMALL_BYTES = 4096
#: In the bytes of every model whose weights lie in other files: the key under which they are named.
_MARK = b"location"


def external_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yields every tensor whose numbers lie in another file, those of functions and sparse ones included."""
    for graph in graphs_of(proto.graph):
        yield from filter(is_external, graph.initializer)
    yield from filter(is_external, _elsewhere(proto))


def is_external(tensor: onnx.TensorProto) -> bool:
    """Whether the numbers of a tensor lie in another file."""
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def has_external_data(proto: onnx.ModelProto) -> bool:
    """Whether any weight lies in another file."""
    return next(external_tensors(proto), None) is not None


def external_names(proto: onnx.ModelProto) -> tuple[str, ...]:
    """The files that hold weights, as the model names them, each once."""
    return tuple(dict.fromkeys(location_of(tensor) for tensor in external_tensors(proto)))


def external_files(source: Path | bytes) -> tuple[str, ...]:
    """As `external_names`, of a file or bytes; empty where they are no ONNX model."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    if _MARK not in data:
        return ()
    try:
        return external_names(onnx.ModelProto.FromString(data))
    except DecodeError:
        return ()


def check_external_data(proto: onnx.ModelProto, folder: Path | None) -> Iterator[Finding]:
    """Yields an error for each file of weights that is missing, too short or elsewhere, once per file."""
    seen: set[str] = set()
    for tensor in external_tensors(proto):
        location = location_of(tensor)
        if location in seen:
            continue
        problem = _problem(tensor, folder)
        if problem is not None:
            seen.add(location)
            yield Finding("error", *problem)


def data_paths(names: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Plain name ("weights/a.bin") -> file, for those names that stay in the folder and are files there."""
    found = {plain_name(name): place(folder, name) for name in names}
    return {name: path for name, path in found.items() if path is not None and path.is_file()}


def content_sha256(main_sha256: str, names: tuple[str, ...], files: Mapping[str, Path]) -> str:
    """The hash that names a model: with that of its other files where none of them is missing; as in the store."""
    if not names or any(plain_name(name) not in files for name in names):
        return main_sha256
    return folder_sha256(main_sha256, {name: file_sha256(path) for name, path in files.items()})


def sha256_of(model: Serialized) -> str:
    """The hash by which a model in this form is known, that of its weights included."""
    plain = hashlib.sha256(model.data).hexdigest()
    names = () if model.folder is None else external_files(model.data)
    return plain if model.folder is None else content_sha256(plain, names, data_paths(names, model.folder))


def plain_name(location: str) -> str:
    """A location as the store names it: without "./" and double slashes."""
    return str(PurePosixPath(location))


def place(folder: Path, location: str) -> Path | None:
    """Where a file of weights lies, links followed; None where that is not below the folder."""
    plain = PurePosixPath(location)
    if not plain.parts or plain.is_absolute() or ".." in plain.parts or "\0" in location:
        return None
    path = (folder / plain).resolve()
    return path if path.is_relative_to(folder.resolve()) else None


def location_of(tensor: onnx.TensorProto) -> str:
    """The file that holds an external tensor, as the model names it."""
    return _entries(tensor).get("location", "")


def byte_range(tensor: onnx.TensorProto) -> tuple[int, int]:
    """(offset, length in bytes) of an external tensor in its file."""
    entries = _entries(tensor)
    length = _number(entries, "length")
    return _number(entries, "offset") or 0, _wanted(tensor) if length is None else length


def read_unmapped(proto: onnx.ModelProto, folder: Path) -> None:
    """Reads what cannot or need not be mapped into the parsed file; call once `check_external_data` found nothing."""
    initializers = (tensor for graph in graphs_of(proto.graph) for tensor in graph.initializer)
    small = (tensor for tensor in initializers if is_external(tensor) and byte_range(tensor)[1] < SMALL_BYTES)
    for tensor in (*filter(is_external, _elsewhere(proto)), *small):
        read_external(tensor, folder)


def read_external(tensor: onnx.TensorProto, folder: Path) -> None:
    """Reads the numbers of one tensor into it."""
    offset, length = byte_range(tensor)
    with (folder / location_of(tensor)).open("rb") as file:
        file.seek(offset)
        tensor.raw_data = file.read(length)
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]


def _elsewhere(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Tensors that are no plain initializers: in attributes, in functions, the parts of sparse ones."""
    for function in proto.functions:
        for node in nodes_of(function.node):
            yield from tensors_in(node)
    for node in nodes_of(proto.graph.node):
        yield from tensors_in(node)
    for graph in graphs_of(proto.graph):
        sparse = [*graph.sparse_initializer]
        for node in graph.node:
            sparse += [attribute.sparse_tensor for attribute in node.attribute if attribute.HasField("sparse_tensor")]
        for tensor in sparse:
            yield from (tensor.values, tensor.indices)


def _problem(tensor: onnx.TensorProto, folder: Path | None) -> tuple[str, str] | None:
    """What is wrong with the file of one weight, and what to do."""
    location = location_of(tensor)
    if folder is None:
        message = f"The model keeps its weights in another file, '{location}', which was not given."
        return message, "Give the model with that file beside it, or export it into one file."
    path = place(folder, location)
    if path is None:
        message = f"The weight '{tensor.name}' points outside the model's folder ('{location}'), which is never opened."
        return message, "Only files in the folder of the model can hold its weights; copy them there, without links."
    if not path.is_file():
        hint = "Put it beside the model file itself; links are not followed."
        return f"The file '{location}' with the weights is missing.", hint
    return _wrong_size(tensor, path.stat().st_size) or _several_names(location, path)


def _wrong_size(tensor: onnx.TensorProto, size: int) -> tuple[str, str] | None:
    if (
        not is_known_type(tensor.data_type)
        or tensor.data_type == onnx.TensorProto.STRING
        or any(dim < 0 for dim in tensor.dims)
    ):
        return f"The weight '{tensor.name}' has an unknown element type or shape.", "Export the model again."
    offset, length = byte_range(tensor)
    if length != _wanted(tensor):
        message = f"The weight '{tensor.name}' holds {length} of {_wanted(tensor)} bytes."
        return message, "The file is damaged; copy, download or export it again."
    if offset < 0 or offset + length > size:
        place_name = location_of(tensor)
        message = f"The file '{place_name}' is too short for the weight '{tensor.name}': {size} of {offset + length}"
        return f"{message} bytes.", "Copy or download it again."
    return None


def _several_names(location: str, path: Path) -> tuple[str, str] | None:
    """A hard link may be another's file put here: the graph library opens none, and neither do we."""
    if path.stat().st_nlink <= 1:
        return None
    message = f"The file '{location}' with the weights has several names on this disk (hard links); it is not opened."
    return message, "Copy it, so that it is a file of its own."


def _wanted(tensor: onnx.TensorProto) -> int:
    """Bytes that the shape asks for."""
    return (int(math.prod(tensor.dims)) * bits_of(tensor.data_type) + 7) // 8


def _entries(tensor: onnx.TensorProto) -> dict[str, str]:
    return {entry.key: entry.value for entry in tensor.external_data}


def _number(entries: dict[str, str], key: str) -> int | None:
    text = entries.get(key, "")
    return int(text) if text.lstrip("-").isdigit() else None
