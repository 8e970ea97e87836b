"""Spent: the profiler's kernels joined to layers and buckets.

A kernel that holds several layers is split among them by their multiply-accumulates; where none of them has any, by
the bytes they write; where neither is known, evenly. A Conv with its Relu therefore counts as the Conv's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from core.graph.layer import Layer, LayerTable
from core.measure.events import LOOK_UPS, KernelEvent, RunEvents
from core.measure.kernel_times import KernelTime, KernelTimes, typical_times
from core.measure.places import Places
from core.measure.profiler_cost import ProfilerCost
from core.runtime.attribute import TaggedSession
from core.runtime.executed import ExecutedNode

BUCKETS = ("reorder", "quantize", "cast", "copy", "unattributed")


@dataclass(slots=True)
class Spent:
    """What one layer or bucket costs per run.

    `raw_ms` is as the profiler recorded it, `ms` without the profiler's own part. A layer ran as often as that of its
    kernels that ran most often: one operator may be written out as several. `weight_bytes` of the `moved_bytes` are
    stored tensors.
    """

    ms: float = 0.0
    raw_ms: float = 0.0
    executions: float = 0.0
    moved_bytes: float = 0.0
    weight_bytes: float = 0.0


@dataclass(slots=True)
class Ledger:
    """All that a typical run of `run_ms` spends, by layer id and by bucket; the rest of it is `gap_ms`.

    `kernel_of` holds the first kernel that spent time on a layer.
    """

    run_ms: float
    layers: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    buckets: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    kernel_of: dict[str, KernelEvent] = field(default_factory=dict)

    @property
    def kernel_ms(self) -> float:
        """Time in kernels, without the profiler's own part."""
        return sum(spent.ms for spent in (*self.layers.values(), *self.buckets.values()))

    @property
    def gap_ms(self) -> float:
        """Time of the run outside kernels, and what the profiler took within them."""
        return max(0.0, self.run_ms - self.kernel_ms)


def book(
    runs: Sequence[RunEvents], tagged: TaggedSession, table: LayerTable, *, cost: ProfilerCost | None = None
) -> Ledger:
    """Books typical times of these runs, see `book_times`."""
    return book_times(typical_times(runs), tagged, table, cost or ProfilerCost())


def book_times(times: KernelTimes, tagged: TaggedSession, table: LayerTable, cost: ProfilerCost) -> Ledger:
    """Books every kernel on the layers it contains, or on a bucket, without what the profiler cost in it."""
    ledger = Ledger(times.run_us / 1e3)
    places = Places(tagged, (kernel.event for kernel in times.kernels))
    for kernel in times.kernels:
        node = places.find(kernel.event)
        shares = {} if node is None else split(node, table)
        left_ms = cost.without(kernel) / 1e3
        if not shares:
            bucket = (node.bucket if node is not None else None) or "unattributed"
            _add(ledger.buckets[bucket], kernel, _stored(kernel, node), left_ms, 1.0)
        for layer_id, share in shares.items():
            _add(ledger.layers[layer_id], kernel, _stored(kernel, node), left_ms, share)
            if share > 0:
                ledger.kernel_of.setdefault(layer_id, kernel.event)
    return ledger


def split(node: ExecutedNode, table: LayerTable) -> dict[str, float]:
    """Layer id -> its share of a kernel's time (shares sum to 1); empty where the kernel is of no layer."""
    layers = [table.layer(layer_id) for layer_id in node.layers if layer_id in table]
    if not layers:
        return {}
    weights = _weights(layers)
    total = sum(weights)
    return {layer.id: weight / total for layer, weight in zip(layers, weights, strict=True)}


def _weights(layers: Sequence[Layer]) -> list[float]:
    for figures in ([layer.macs or 0 for layer in layers], [layer.activation_bytes or 0 for layer in layers]):
        if any(figures):
            return [float(figure) for figure in figures]
    return [1.0] * len(layers)


def _stored(kernel: KernelTime, node: ExecutedNode | None) -> float:
    """Bytes of stored tensors that a kernel reads per run, those included that the runtime does not tell."""
    if node is None or kernel.event.op_type in LOOK_UPS:
        return kernel.event.stored_bytes * kernel.executions
    return max(kernel.event.stored_bytes, node.stored_bytes) * kernel.executions


def _add(spent: Spent, kernel: KernelTime, stored_bytes: float, left_ms: float, share: float) -> None:
    spent.ms += left_ms * share
    spent.raw_ms += kernel.own_us * share / 1e3
    spent.executions = max(spent.executions, kernel.executions)
    told_bytes = kernel.event.stored_bytes * kernel.executions
    spent.moved_bytes += (kernel.moved_bytes - told_bytes + stored_bytes) * share
    spent.weight_bytes += stored_bytes * share


def executed_forms(nodes: Iterable[ExecutedNode], table: LayerTable) -> Mapping[str, str]:
    """Layer id -> what it executes as, in words: "Conv+Relu (NCHWc)", "in conv1: Conv+Relu (NCHWc)"."""
    forms: dict[str, list[str]] = {}
    for node in nodes:
        shares = split(node, table)
        if not shares:
            continue
        holder = max(shares, key=lambda layer_id: shares[layer_id])
        form = _form(node, [table.layer(layer_id) for layer_id in shares])
        for layer_id, share in shares.items():
            forms.setdefault(layer_id, []).append(form if share > 0 else f"in {holder}: {form}")
    return {layer_id: _join(found) for layer_id, found in forms.items()}


def _form(node: ExecutedNode, layers: Sequence[Layer]) -> str:
    """The source's operators where the kernel is their plain or fused form, else the kernel's own name."""
    operators = [layer.op_type for layer in layers]
    plain = node.op_type.removeprefix("Fused") in operators
    layout = {"com.microsoft.nchwc": " (NCHWc)", "com.ms.internal.nhwc": " (NHWC)"}.get(node.domain, "")
    if plain:
        return "+".join(operators) + layout
    return (node.op_type if len(operators) == 1 else f"{node.op_type} ({'+'.join(operators)})") + layout


def _join(forms: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(forms))
    if len(distinct) > 3:
        return f"{len(forms)} kernels: {', '.join(distinct[:3])} ..."
    return ", ".join(distinct) if len(forms) == len(distinct) else f"{len(forms)} kernels: {', '.join(distinct)}"
