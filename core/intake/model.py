"""A model as loaded: parsed, checked, repaired, and what was found on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import onnx_ir

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


@dataclass(frozen=True, slots=True)
class Model:
    """A loaded model. `ir` is read-only by convention: stages edit a `copy_ir()`.

    `sha256` is that of the bytes as given: it names the model everywhere.
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

    def copy_ir(self) -> onnx_ir.Model:
        """A copy whose nodes and values may be edited; tensors are shared, not copied."""
        return self.ir.clone()

    def to_bytes(self) -> bytes:
        """The repaired model as a serialized ModelProto."""
        return bytes(onnx_ir.to_proto(self.ir).SerializeToString())
