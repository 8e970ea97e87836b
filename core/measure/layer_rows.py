"""Layer rows: one row per layer of the table out of what was booked on it, those without time included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.graph.layer import Layer, LayerTable
from core.measure.limits import Work, measured_macs, reach
from core.measure.profiled import FOLDED, NOT_RUN, LayerTime
from core.measure.roofline import Roofline
from core.measure.spent import Ledger, Spent, executed_forms, split
from core.runtime.executed import ExecutedNode
from core.runtime.kernel_precision import kernel_precision


def layer_rows(
    ledger: Ledger, table: LayerTable, nodes: Sequence[ExecutedNode], roofline: Roofline | None = None
) -> tuple[LayerTime, ...]:
    """All rows, in graph order.

    Args:
        ledger: what was spent.
        table: the layers.
        nodes: the executed nodes, which say what each layer runs as.
        roofline: what this machine can do at most, where that is known.
    """
    forms, precisions = executed_forms(nodes, table), layer_precisions(nodes, table)
    rows = _Rows(ledger, forms, precisions, ledger.kernel_ms, _all_weight_bytes(ledger), roofline)
    return tuple(rows.row(layer) for layer in table)


def layer_precisions(nodes: Sequence[ExecutedNode], table: LayerTable) -> dict[str, str]:
    """Layer id -> what its kernels really compute in; of several kernels, that of the one it has most of."""
    found: dict[str, tuple[float, str]] = {}
    for node in nodes:
        precision = kernel_precision(node)
        for layer_id, share in split(node, table).items() if precision is not None else ():
            if precision is not None and (layer_id not in found or share > found[layer_id][0]):
                found[layer_id] = (share, precision)
    return {layer_id: precision for layer_id, (_, precision) in found.items()}


@dataclass(frozen=True)
class _Rows:
    ledger: Ledger
    forms: Mapping[str, str]
    precisions: Mapping[str, str]
    kernel_ms: float
    all_weight_bytes: float
    roofline: Roofline | None

    def row(self, layer: Layer) -> LayerTime:
        """One layer's."""
        spent = self.ledger.layers.get(layer.id) or Spent()
        macs = _macs_per_run(layer, self.ledger, spent)
        moved = round(spent.moved_bytes) if spent.executions else None
        form, precision = self.forms.get(layer.id), self.precisions.get(layer.id)
        work = Work(spent.ms, spent.executions, macs, moved, precision, spent.weight_bytes, self.all_weight_bytes)
        return LayerTime(
            layer=layer,
            ms=spent.ms,
            share=spent.ms / self.kernel_ms if self.kernel_ms > 0 else 0.0,
            macs=macs,
            moved_bytes=moved,
            reached=reach(work, self.roofline),
            executes_as=FOLDED if form is None else form if spent.executions else f"{form} ({NOT_RUN})",
            runs=spent.executions,
            precision=precision,
            raw_ms=spent.raw_ms,
        )


def _all_weight_bytes(ledger: Ledger) -> float:
    """The stored tensors that one run of the model reads, each once."""
    spent = (*ledger.layers.values(), *ledger.buckets.values())
    return sum(each.weight_bytes / max(each.executions, 1.0) for each in spent)


def _macs_per_run(layer: Layer, ledger: Ledger, spent: Spent) -> int | None:
    """The table's figure is of one execution: a body may run several times in one run of the model."""
    macs = layer.macs
    if macs is None and layer.id in ledger.kernel_of:
        macs = measured_macs(layer.op_type, ledger.kernel_of[layer.id])
    return round(macs * spent.executions) if macs and layer.scope and spent.executions else macs
