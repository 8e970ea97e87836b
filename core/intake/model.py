"""A model as loaded: parsed, checked, repaired, and what was found on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import onnx_ir
from google.protobuf.message import EncodeError

from core.errors import WorkError
from core.intake.scopes import walk_graphs
from core.intake.serialized import Openable, Serialized

__all__ = ["Finding", "Model", "Openable", "Repair", "Serialized", "Severity", "TensorSpec", "serialize"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Repair:
    """A harmless change made while loading (the caller's file is never touched)."""

    what: str
    why: str
    count: int

    def to_dict(self) -> dict[str, Any]:
        """As in the `inspect` document."""
        return {"what": self.what, "why": self.why, "count": self.count}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something the user should know of the model, worst first: error, warning, note."""

    severity: Severity
    message: str
    hint: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As in the `inspect` document."""
        return {"severity": self.severity, "message": self.message, "hint": self.hint}


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """Name, element type (numpy name, e.g. "float32", "int64") and shape of an input or output.

    A dimension is an int, a symbol's name, or "?" where the file says nothing; `shape` is None for an unknown rank.
    """

    name: str
    dtype: str
    shape: tuple[int | str, ...] | None

    def to_dict(self) -> dict[str, Any]:
        """As in the `inspect` document."""
        return {"name": self.name, "dtype": self.dtype, "shape": None if self.shape is None else list(self.shape)}


def serialize(model: onnx_ir.Model) -> Serialized:
    """Writes a graph as bytes; weights that are mapped from files are named in them, not copied.

    Raises:
        WorkError: what is not mapped exceeds the 2 GB that one file of this format can hold.
    """
    weights = (value.const_value for graph in walk_graphs(model.graph) for value in graph.initializers.values())
    folders = {Path(weight.base_dir) for weight in weights if isinstance(weight, onnx_ir.ExternalTensor)}
    if len(folders) > 1:
        raise WorkError("The weights of this model lie in several folders.")
    try:
        data = bytes(onnx_ir.to_proto(model).SerializeToString())
    except (EncodeError, ValueError) as error:
        message = "What was computed for this model exceeds the 2 GB that one ONNX file can hold."
        raise WorkError(message, hint="Lower fewer layers at once.") from error
    return Serialized(data, next(iter(folders), None), edited=True)


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model. `ir` is read-only by convention: stages edit a `copy_ir()`.

    `sha256` is that of the bytes as given (weights in other files included): it names the model everywhere.
    `size_bytes` counts all files; `folder` is where those besides its own lie, None where there are none. Of a graph
    that is not `readable` (`findings` say why) only inputs and outputs are here: what it holds is not known.
    """

    name: str
    sha256: str
    size_bytes: int
    ir: onnx_ir.Model = field(repr=False)
    opset: int | None
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    repairs: tuple[Repair, ...] = ()
    findings: tuple[Finding, ...] = ()
    folder: Path | None = None
    readable: bool = True

    def copy_ir(self) -> onnx_ir.Model:
        """A copy whose nodes and values may be edited; tensors are shared, not copied."""
        return self.ir.clone()

    def serialize(self) -> Serialized:
        """The repaired model as bytes; weights in other files are named in them, not copied."""
        return serialize(self.ir)

    def to_bytes(self) -> bytes:
        """The repaired model as a serialized ModelProto; WorkError where its weights lie in other files."""
        return self.serialize().whole()
