"""Loading: a path or bytes become a parsed, checked and repaired model, or one clear line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import onnx
import onnx_ir as ir

from core.errors import ModelError
from core.intake.checks import check_file, check_graph, check_readable
from core.intake.external import content_sha256, data_paths, external_names, read_unmapped
from core.intake.model import Finding, Model, Repair, Serialized
from core.intake.parse import parse_model
from core.intake.plain import densify, take_off_types
from core.intake.repair import repair_graph
from core.intake.source import Source, read_source
from core.intake.specs import TYPE_NOTE, input_specs, output_specs
from core.intake.structure import sort_graphs

#: What the libraries raise on bytes that parse but make no sense.
_DAMAGE = (ir.serde.SerdeError, ValueError, TypeError, KeyError, IndexError, AttributeError, NotImplementedError)


def load_model(source: str | Path | bytes | Serialized, *, name: str | None = None, strict: bool = True) -> Model:
    """Loads a model; the file itself is never touched.

    Args:
        source: a path, or bytes. Weights in other files are mapped, not read: those files must stay where they are
            while the model is used.
        name: what to call it; the file's name if not given.
        strict: whether to refuse what the runtime cannot run. If not, a file that parses is always loaded and the
            reason is an error finding; a graph that cannot be read (a cycle, missing weights) is then empty.

    Raises:
        ModelError: the file is no ONNX model or, if strict, not one that this runtime can run.
    """
    given = read_source(source, name=name)
    proto = parse_model(given)
    try:
        return _load(proto, given, strict=strict)
    except _DAMAGE as error:
        message = f"'{given.name}' holds something that cannot be read here: {_root(error)}"
        raise ModelError(message, hint="The file may be damaged; copy, download or export it again.") from error


def _load(proto: onnx.ModelProto, given: Source, *, strict: bool) -> Model:
    broken = check_readable(proto, given.folder)
    findings = [*broken, *check_file(proto)]
    if strict:
        _refuse(findings)
    names = external_names(proto)
    files = {} if given.folder is None else data_paths(names, given.folder)
    given = replace(given, sha256=content_sha256(given.sha256, names, files))
    if broken:
        _empty(proto)
    elif given.folder is not None:
        read_unmapped(proto, given.folder)
    moved = sort_graphs(proto.graph)
    plain = densify(proto.graph)
    types = take_off_types(proto.graph)
    model = ir.from_proto(proto)
    if given.folder is not None:
        ir.external_data.set_base_dir(model.graph, given.folder)
    _note_types(model, types)
    repairs = (*_reordered(moved), *plain, *repair_graph(model))
    if not any(finding.severity == "error" for finding in findings):
        findings.extend(check_graph(model))
    return _model(given, files, model, repairs, findings, readable=not broken)


def _refuse(findings: list[Finding]) -> None:
    for finding in findings:
        if finding.severity == "error":
            raise ModelError(finding.message, hint=finding.hint)


def _model(
    given: Source,
    files: Mapping[str, Path],
    model: ir.Model,
    repairs: tuple[Repair, ...],
    findings: list[Finding],
    *,
    readable: bool,
) -> Model:
    return Model(
        name=given.name,
        sha256=given.sha256,
        size_bytes=len(given.data) + sum(path.stat().st_size for path in files.values()),
        ir=model,
        opset=model.opset_imports.get(""),
        inputs=input_specs(model),
        outputs=output_specs(model),
        repairs=repairs,
        folder=given.folder if files else None,
        readable=readable,
        findings=tuple(sorted(findings, key=lambda finding: ("error", "warning", "note").index(finding.severity))),
    )


def _root(error: BaseException) -> BaseException:
    """The first cause of an error: the library wraps it once per nesting level."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _note_types(model: ir.Model, types: Mapping[str, str]) -> None:
    for value in (*model.graph.inputs, *model.graph.outputs):
        if value.name and value.name in types:
            value.metadata_props[TYPE_NOTE] = types[value.name]


def _empty(proto: onnx.ModelProto) -> None:
    """Keeps what the model takes and gives, and drops a graph that cannot be read."""
    del proto.graph.node[:]
    del proto.graph.initializer[:]
    del proto.graph.sparse_initializer[:]


def _reordered(moved: int) -> tuple[Repair, ...]:
    why = "A value must be written before it is read; the runtime sorts them as well."
    return (Repair("put nodes into the order they run in", why, moved),) if moved else ()
