"""Loading: a path or bytes become a parsed, checked and repaired model, or one clear line."""

from __future__ import annotations

from pathlib import Path

import onnx_ir as ir

from core.intake.model import Model
from core.intake.names import name_nodes
from core.intake.parse import parse_model
from core.intake.source import read_source
from core.intake.specs import input_specs, output_specs


def load_model(source: str | Path | bytes, *, name: str | None = None) -> Model:
    """Loads a model; the file itself is never touched.

    Raises:
        ModelError: the file is no ONNX model, or not one this runtime can run.
    """
    given = read_source(source, name=name)
    proto = parse_model(given)
    model = ir.from_proto(proto)
    repairs = name_nodes(model)
    return Model(
        name=given.name,
        sha256=given.sha256,
        size_bytes=len(given.data),
        ir=model,
        opset=model.opset_imports.get(""),
        inputs=input_specs(model),
        outputs=output_specs(model),
        repairs=repairs,
    )
