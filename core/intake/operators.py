"""Operators: whether each node is one that ONNX or the runtime defines, in the operator set the model states."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import onnx

from core.intake.limits import canonical
from core.intake.model import Finding
from core.intake.protos import nodes_of

#: Domains whose operators the runtime brings itself; what it makes of each it says when it opens the model.
RUNTIME_DOMAINS = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})
#: Operators that the runtime adds to ONNX's own domain, mostly from before they had a domain of their own.
RUNTIME_OPERATORS = frozenset({
    "Affine", "Crop", "DynamicSlice", "GRUUnit", "GivenTensorFill", "ImageScaler", "ParametricSoftplus", "Scale",
    "ScaledTanh", "SimplifiedLayerNormalization", "LayerNormalization", "MeanVarianceNormalization",
})  # fmt: skip
#: How like two spellings must be for one to be suggested; names of operators are short.
_SPELLING = 0.75
_CUSTOM_HINT = "Operators from custom libraries cannot be loaded here; export the model without them."


def check_operators(proto: onnx.ModelProto) -> Iterator[Finding]:
    """Yields an error for each kind of node that no one defines, once per kind."""
    functions = {(canonical(function.domain), function.name) for function in proto.functions}
    bodies: list[tuple[Sequence[onnx.NodeProto], Mapping[str, int]]] = [
        (proto.graph.node, _versions(proto.opset_import))
    ]
    bodies += [(function.node, _versions(function.opset_import)) for function in proto.functions]
    seen: set[tuple[str, str]] = set()
    for nodes, versions in bodies:
        for node in nodes_of(nodes):
            kind = (canonical(node.domain), node.op_type)
            if kind in seen or kind in functions:
                continue
            seen.add(kind)
            finding = _check(node, kind[0], versions)
            if finding is not None:
                yield finding


def _versions(opsets: Sequence[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {canonical(opset.domain): opset.version for opset in opsets}


def _check(node: onnx.NodeProto, domain: str, versions: Mapping[str, int]) -> Finding | None:
    if domain in RUNTIME_DOMAINS or (domain == "" and node.op_type in RUNTIME_OPERATORS):
        return None
    known = _known_operators()
    if domain not in known:
        label = f"'{node.name}' ({node.op_type})" if node.name else node.op_type
        return Finding("error", f"Node {label} is an operator of the unknown domain '{domain}'.", _CUSTOM_HINT)
    if node.op_type not in known[domain]:
        near = difflib.get_close_matches(node.op_type, known[domain], n=1, cutoff=_SPELLING)
        meant = f" Did you mean '{near[0]}'?" if near else ""
        message = f"There is no operator '{node.op_type}' in {domain or 'ai.onnx'}.{meant}"
        return Finding("error", message, _CUSTOM_HINT)
    stated = versions.get(domain)
    first = known[domain][node.op_type]
    if stated is not None and stated < first:
        message = f"'{node.op_type}' exists from operator set {first} on, but the model states {stated}."
        return Finding("error", message, f"Export the model again with operator set {first} or newer.")
    return None


@cache
def _known_operators() -> dict[str, dict[str, int]]:
    """Domain -> operator -> the operator set that brought it."""
    known: dict[str, dict[str, int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        names = known.setdefault(schema.domain, {})
        names[schema.name] = min(schema.since_version, names.get(schema.name, schema.since_version))
    return known
