"""Inspect: what the file holds, what is wrong with it, and its layers with a layout to draw them by."""

from __future__ import annotations

from typing import Any

from core.errors import DataError
from core.graph.folded import fold_modules
from core.graph.layer import Group, Layer, LayerTable
from core.graph.layout import lay_out
from core.graph.read import read_layers
from core.graph.summary import summarize
from core.intake.model import Finding, Model
from core.progress import Progress
from core.store.workspace import Workspace
from core.tasks.params import Params, Subject
from core.tasks.prepare import Prepared, describe_data, load, load_data, runtime_refusal

_WORST_FIRST = ("error", "warning", "note")


def inspect(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Reads a model: the contract's `inspect` document with `layers`, `groups`, `layout`, `folded` and `data`.

    A model that the runtime refuses is still described, with an error finding. Data that was given must fit; where
    synthetic inputs cannot be made (an input's size is unknown), the document says so in a finding and `data` is null.

    Raises:
        ModelError: the file does not parse.
        DataError: the data that was given does not fit.
    """
    subject = Subject.read(params)
    progress.phase("Read the file", start=0.0, end=0.4)
    model, path = load(workspace, subject, strict=False)
    findings = list(model.findings)
    shapes, data = _data(workspace, subject, model, findings)
    progress.phase("Read the layers", start=0.4, end=0.6)
    table = read_layers(model, shapes=shapes)
    progress.phase("Ask the runtime", start=0.6, end=0.8)
    refusal = runtime_refusal(model, subject.settings)
    if refusal is not None and not any(finding.severity == "error" for finding in findings):
        findings.append(refusal)
    progress.phase("Lay out the graph", start=0.8, end=1.0)
    document = _document(model, table, findings)
    if data is not None:
        document["data"] = describe_data(Prepared(subject, model, path, table, data))
    return document


def _document(model: Model, table: LayerTable, findings: list[Finding]) -> dict[str, Any]:
    summary = dict(summarize(model, table))
    ops = summary.pop("ops", None)
    ranked = sorted(findings, key=lambda finding: _WORST_FIRST.index(finding.severity))
    kinds = {group.id: group.kind for group in table.groups}
    return {
        "model": summary.get("model", summary),
        "repairs": [repair.to_dict() for repair in model.repairs],
        "findings": [finding.to_dict() for finding in ranked],
        "ops": ops if ops is not None else {},
        "layers": [layer_row(layer, kinds[layer.group]) for layer in table],
        "groups": [group_row(group) for group in table.groups],
        "layout": lay_out(table).to_dict(),
        "folded": {"modules": [module.to_dict() for module in fold_modules(table)]},
        "data": None,
    }


def _data(workspace: Workspace, subject: Subject, model: Model, findings: list[Finding]) -> tuple[Any, Any]:
    """Shapes and data set; where nothing was given and nothing can be made up, None and a finding that says so."""
    try:
        dataset = load_data(workspace, subject, model)
    except DataError as error:
        if subject.data is not None or subject.shapes:
            raise
        findings.append(Finding("warning", error.message, error.hint))
        return None, None
    return dataset.shapes(), dataset


def layer_row(layer: Layer, group_kind: str) -> dict[str, Any]:
    """One layer as a row of the `inspect` document."""
    return {
        "id": layer.id,
        "name": layer.name,
        "unique_name": layer.unique_name,
        "index": layer.index,
        "op": layer.op_type,
        "domain": layer.domain,
        "group": layer.group,
        "group_kind": group_kind,
        "scope": list(layer.scope),
        "module": list(layer.module),
        "dtype": layer.dtype,
        "inputs": list(layer.inputs),
        "outputs": list(layer.outputs),
        "input_shapes": [None if shape is None else list(shape) for shape in layer.input_shapes],
        "output_shapes": [None if shape is None else list(shape) for shape in layer.output_shapes],
        "parameters": layer.parameters,
        "weight_bytes": layer.weight_bytes,
        "activation_bytes": layer.activation_bytes,
        "macs": layer.macs,
    }


def group_row(group: Group) -> dict[str, Any]:
    """One group as a row of the `inspect` document."""
    return {"id": group.id, "anchor": group.anchor, "kind": group.kind, "layers": list(group.layers)}
