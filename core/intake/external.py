"""External data: weights that a model keeps in other files. They may lie in the model's own folder only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import onnx

from core.intake.model import Finding
from core.intake.protos import tensors_of
from core.intake.weights import MOST_BYTES


def has_external_data(proto: onnx.ModelProto) -> bool:
    """Whether any weight lies in another file."""
    return any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in tensors_of(proto.graph))


def check_external_data(proto: onnx.ModelProto, folder: Path | None) -> Iterator[Finding]:
    """Yields an error for each file of weights that is missing, too short, elsewhere, or too large, once per file."""
    seen: set[str] = set()
    total = 0
    for tensor in tensors_of(proto.graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        location = entries.get("location", "")
        total += _number(entries, "length") or 0
        if location in seen:
            continue
        message = _problem(tensor.name, location, entries, folder)
        if message is not None:
            seen.add(location)
            yield Finding("error", message[0], message[1])
    if total > MOST_BYTES:
        size = f"{total / 1e9:.1f} GB"
        yield Finding("error", f"The weights take {size}; models above 2 GB cannot be edited here yet.", None)


def load_external_data(proto: onnx.ModelProto, folder: Path) -> None:
    """Reads all external weights into the parsed file; call only after `check_external_data` found nothing."""
    for tensor in tensors_of(proto.graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            onnx.external_data_helper.load_external_data_for_tensor(tensor, str(folder))
            tensor.data_location = onnx.TensorProto.DEFAULT
            del tensor.external_data[:]


def _problem(name: str, location: str, entries: dict[str, str], folder: Path | None) -> tuple[str, str] | None:
    """What is wrong with the file of one weight, and what to do."""
    if folder is None:
        message = f"The model keeps its weights in another file, '{location}', which was not given."
        return message, "Give the path of the model with that file beside it, or export it into one file."
    path = (folder / location).resolve()
    if not location or Path(location).is_absolute() or not path.is_relative_to(folder.resolve()):
        message = f"The weight '{name}' points outside the model's folder ('{location}'), which is never opened."
        return message, "Only files in the folder of the model can hold its weights."
    if not path.is_file():
        return f"The file '{location}' with the weights is missing.", "Put it beside the model file."
    offset, length = _number(entries, "offset") or 0, _number(entries, "length") or 0
    size = path.stat().st_size
    if offset < 0 or length < 0 or offset + length > size:
        message = f"The file '{location}' is too short for the weight '{name}': {size} of {offset + length} bytes."
        return message, "Copy or download it again."
    return None


def _number(entries: dict[str, str], key: str) -> int | None:
    text = entries.get(key, "")
    return int(text) if text.lstrip("-").isdigit() else None
