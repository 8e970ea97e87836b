"""Layer rows: one row per layer of the table out of what was booked on it, those without time included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.graph.layer import Layer, LayerTable
from core.measure.limits import limited_by, measured_macs
from core.measure.profiled import FOLDED, NOT_RUN, LayerTime
from core.measure.spent import Ledger, Spent, executed_forms, split
from core.runtime.executed import ExecutedNode
from core.runtime.kernel_precision import kernel_precision


def layer_rows(ledger: Ledger, table: LayerTable, nodes: Sequence[ExecutedNode]) -> tuple[LayerTime, ...]:
    """All rows, in graph order.

    Args:
        ledger: what was spent.
        table: the layers.
        nodes: the executed nodes, which say what each layer runs as.
    """
    forms, precisions = executed_forms(nodes, table), layer_precisions(nodes, table)
    kernel_ms = ledger.kernel_ms
    return tuple(_row(layer, ledger, forms, precisions, kernel_ms) for layer in table)


def layer_precisions(nodes: Sequence[ExecutedNode], table: LayerTable) -> dict[str, str]:
    """Layer id -> what its kernels really compute in; of several kernels, that of the one it has most of."""
    found: dict[str, tuple[float, str]] = {}
    for node in nodes:
        precision = kernel_precision(node)
        for layer_id, share in split(node, table).items() if precision is not None else ():
            if precision is not None and (layer_id not in found or share > found[layer_id][0]):
                found[layer_id] = (share, precision)
    return {layer_id: precision for layer_id, (_, precision) in found.items()}


def _row(
    layer: Layer, ledger: Ledger, forms: Mapping[str, str], precisions: Mapping[str, str], kernel_ms: float
) -> LayerTime:
    spent = ledger.layers.get(layer.id) or Spent()
    macs, moved = _macs_per_run(layer, ledger, spent), round(spent.moved_bytes) if spent.executions else None
    form = forms.get(layer.id)
    return LayerTime(
        layer=layer,
        ms=spent.ms,
        share=spent.ms / kernel_ms if kernel_ms > 0 else 0.0,
        macs=macs,
        moved_bytes=moved,
        limited_by=limited_by(spent.ms, spent.executions, macs, moved),
        executes_as=FOLDED if form is None else form if spent.executions else f"{form} ({NOT_RUN})",
        runs=spent.executions,
        precision=precisions.get(layer.id),
        raw_ms=spent.raw_ms,
    )


def _macs_per_run(layer: Layer, ledger: Ledger, spent: Spent) -> int | None:
    """The table's figure is of one execution: a body may run several times in one run of the model."""
    macs = layer.macs
    if macs is None and layer.id in ledger.kernel_of:
        macs = measured_macs(layer.op_type, ledger.kernel_of[layer.id])
    return round(macs * spent.executions) if macs and layer.scope and spent.executions else macs
