"""Read-back: what the runtime really made of every layer, from its optimized graph, against what was asked."""

from __future__ import annotations

from collections.abc import Mapping

from core.graph.layer import LayerTable
from core.recipe.plan import Decision, Plan
from core.recipe.precision import Precision
from core.runtime.executed import ExecutedGraph, ExecutedNode
from core.transform.candidate import LayerOutcome

FOLDED = "folded"
#: Operators of the runtime whose arithmetic is in 8-bit integers.
_INTEGER = (
    "QLinear",
    "QGemm",
    "MatMulIntegerToFloat",
    "MatMulInteger",
    "ConvInteger",
    "DynamicQuantize",
    "QAttention",
    "QEmbedLayerNormalization",
)
_BYTES = ("uint8", "int8")


def read_back(
    plan: Plan,
    table: LayerTable,
    executed: ExecutedGraph,
    *,
    int8_layers: Mapping[str, str],
    refused: Mapping[str, str],
) -> tuple[LayerOutcome, ...]:
    """One outcome per layer.

    Args:
        plan: what was decided.
        table: the layers.
        executed: the optimized graph of the candidate.
        int8_layers: layer id -> group id, for the layers inside the int8 bodies that were placed.
        refused: group id -> why no int8 body was placed for it.
    """
    by_layer: dict[str, list[ExecutedNode]] = {}
    for node in executed.nodes:
        for layer_id in node.layers:
            by_layer.setdefault(layer_id, []).append(node)
    anchors = {group.id: by_layer.get(group.anchor, []) for group in table.groups}
    placed_groups = set(int8_layers.values())
    return tuple(
        _outcome(
            decision,
            table.layer(decision.layer).op_type,
            by_layer.get(decision.layer, []),
            anchor=anchors[decision.group],
            inside=decision.layer in int8_layers,
            placed=decision.group in placed_groups,
            refusal=refused.get(decision.group),
        )
        for decision in plan.decisions
    )


def executed_precisions(produced: Mapping[str, str], table: LayerTable, executed: ExecutedGraph) -> dict[str, str]:
    """Layer id -> what the runtime runs, for a candidate that was read back before.

    Args:
        produced: layer id -> the precision that the file says, as an earlier read-back told it.
        table: the layers of the original.
        executed: the optimized graph of the candidate, here and now.
    """
    by_layer: dict[str, list[ExecutedNode]] = {}
    for node in executed.nodes:
        for layer_id in node.layers:
            by_layer.setdefault(layer_id, []).append(node)
    anchors = {layer: group.anchor for group in table.groups for layer in group.layers}
    lowered = str(Precision.INT8)
    return {
        layer: _executed(by_layer.get(layer, []), by_layer.get(anchors[layer], []) if says == lowered else [])
        for layer, says in produced.items()
        if layer in table
    }


def _outcome(
    decision: Decision,
    op_type: str,
    nodes: list[ExecutedNode],
    *,
    anchor: list[ExecutedNode],
    inside: bool,
    placed: bool,
    refusal: str | None,
) -> LayerOutcome:
    produced = Precision.INT8 if inside else _float_of(decision)
    ran = _executed(nodes, anchor if inside else [])
    return LayerOutcome(
        layer=decision.layer,
        group=decision.group,
        op=op_type,
        requested=str(decision.requested),
        produced=str(produced),
        executed=ran,
        why=_why(decision, op_type, ran, inside=inside, placed=placed, refusal=refusal, nodes=nodes or anchor),
    )


def _float_of(decision: Decision) -> Precision:
    return Precision.FP32 if decision.precision is Precision.INT8 else decision.precision


def _executed(nodes: list[ExecutedNode], anchor: list[ExecutedNode]) -> str:
    """A layer of an int8 body that left no node of its own vanished into its anchor's kernel."""
    shown = nodes or anchor
    if not shown:
        return FOLDED
    return str(Precision.INT8) if any(is_integer(node) for node in shown) else str(Precision.FP32)


def is_integer(node: ExecutedNode) -> bool:
    """Whether this kernel computes on, or moves, 8-bit integers."""
    if node.op_type.startswith(_INTEGER):
        return True
    conversion = node.op_type in ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear")
    return not conversion and bool(node.element_types) and node.element_types[0] in _BYTES


def _why(
    decision: Decision,
    op_type: str,
    ran: str,
    *,
    inside: bool,
    placed: bool,
    refusal: str | None,
    nodes: list[ExecutedNode],
) -> str:
    if decision.requested is not Precision.INT8 or decision.precision is not Precision.INT8:
        return decision.why
    if refusal is not None:
        return refusal
    if ran == str(Precision.INT8):
        return decision.why
    if not inside:
        return (
            f"{op_type} computes in fp32 on what this integer kernel gives: it has no int8 form behind it"
            if placed
            else (decision.why)
        )
    if ran == FOLDED:
        return "the runtime folded it away: nothing is computed here any more"
    kernels = ", ".join(sorted({node.op_type for node in nodes})) or "nothing"
    return f"the runtime did not fuse it into an integer kernel: it runs {kernels} on dequantized values"
