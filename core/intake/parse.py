"""Parsing: bytes become a ModelProto, or a sentence that says what the bytes are instead."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from google.protobuf.message import DecodeError

from core.errors import ModelError
from core.intake.protos import nodes_of
from core.intake.source import Source, check_size

_TEXT_SAMPLE = 512
_EXPORT_AGAIN = "Export or download the model again; the file must be the .onnx itself."
#: First bytes -> what such a file is.
_SIGNATURES = {
    b"version https://git-lfs": ("a Git LFS pointer, not the model it points to", "Fetch the real file: git lfs pull."),
    b"PK\x03\x04": (
        "a ZIP archive, not an ONNX model",
        "Give the .zip itself where a model is asked for; an NPZ of data goes beside the model, not in its place.",
    ),
    b"\x1f\x8b": ("a gzip archive, not an ONNX model", "Unpack it first."),
    b"\x93NUMPY": ("a NumPy array, not an ONNX model", "Give it as data, and the .onnx file as the model."),
    b"\x89HDF": ("an HDF5 file (perhaps a Keras model), not an ONNX model", "Convert it to ONNX first."),
    b"\x89PNG": ("an image, not an ONNX model", _EXPORT_AGAIN),
    b"%PDF": ("a PDF document, not an ONNX model", _EXPORT_AGAIN),
}


def parse_model(source: Source) -> onnx.ModelProto:
    """Parses a model file.

    Raises:
        ModelError: the bytes are empty, cut off, or something else than an ONNX model.
    """
    _refuse_other_files(source)
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(source.data)
    except DecodeError as error:
        message = f"'{source.name}' is not a readable ONNX file: it is cut off or damaged."
        raise ModelError(message, hint="Compare its size with the original and copy or download it again.") from error
    if not proto.HasField("graph") or not proto.ir_version:
        raise ModelError(f"'{source.name}' is not an ONNX model: it holds no graph.", hint=_EXPORT_AGAIN)
    if not all(isinstance(text, str) for text in _texts(proto)):  # bytes, where they are no UTF-8
        raise ModelError(f"'{source.name}' is damaged: it holds text that is no text.", hint=_EXPORT_AGAIN)
    return proto


def _texts(proto: onnx.ModelProto) -> Iterator[str]:
    """Names by which the rest of intake calls things."""
    yield from (opset.domain for opset in proto.opset_import)
    yield from (value.name for value in (*proto.graph.input, *proto.graph.output))
    for node in nodes_of(proto.graph.node):
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)


def _refuse_other_files(source: Source) -> None:
    check_size(source.name, len(source.data))
    if not source.data:
        raise ModelError(f"'{source.name}' is empty: the file has zero bytes.", hint=_EXPORT_AGAIN)
    for signature, (what, hint) in _SIGNATURES.items():
        if source.data.startswith(signature):
            raise ModelError(f"'{source.name}' is {what}.", hint=hint)
    head = source.data[:_TEXT_SAMPLE].lstrip().lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml")):
        hint = "The download probably gave an error or log-in page; open the address in a browser and see."
        raise ModelError(f"'{source.name}' is a web page, not an ONNX model.", hint=hint)
    if _is_text(source.data[:_TEXT_SAMPLE]):
        raise ModelError(f"'{source.name}' is a text file, not an ONNX model.", hint=_EXPORT_AGAIN)


def _is_text(data: bytes) -> bool:
    """Whether bytes are plain printable text: a serialized model has control bytes at its very start."""
    return all(byte in b"\t\n\r" or byte >= 32 for byte in data)
