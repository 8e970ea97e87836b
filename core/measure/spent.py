"""Spent: the profiler's kernels joined to layers and buckets, run by run.

A kernel that holds several layers is split among them by their multiply-accumulates; where none of them has any, by
the bytes they write; where neither is known, evenly. A Conv with its Relu therefore counts as the Conv's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from core.graph.layer import Layer, LayerTable
from core.measure.events import KernelEvent, RunEvents
from core.runtime.attribute import TaggedSession
from core.runtime.executed import ExecutedNode

BUCKETS = ("reorder", "quantize", "cast", "copy", "unattributed")


@dataclass(slots=True)
class Spent:
    """What one layer or bucket cost in each run: milliseconds, executions, bytes moved. Runs without it are absent."""

    ms: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    executions: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    moved_bytes: dict[int, float] = field(default_factory=lambda: defaultdict(float))

    def typical_ms(self, runs: int) -> float:
        """Milliseconds per run: the median over the runs that have it, times the share of runs that do."""
        return median(self.ms.values()) * len(self.ms) / runs if self.ms and runs else 0.0

    def typical_executions(self, runs: int) -> float:
        """Executions per run."""
        return sum(self.executions.values()) / runs if runs else 0.0

    def typical_bytes(self) -> int | None:
        """Bytes moved in a run that has it."""
        return round(median(self.moved_bytes.values())) if self.moved_bytes else None


@dataclass(slots=True)
class Ledger:
    """All that was spent, by layer id and by bucket.

    `gap_ms` is the median time of a run outside kernels; `kernel_of` holds the first kernel that spent time on a layer.
    """

    runs: int
    gap_ms: float
    layers: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    buckets: dict[str, Spent] = field(default_factory=lambda: defaultdict(Spent))
    kernel_of: dict[str, KernelEvent] = field(default_factory=dict)


def book(runs: Sequence[RunEvents], tagged: TaggedSession, table: LayerTable) -> Ledger:
    """Books every kernel of every run on the layers it contains, or on a bucket."""
    ledger = Ledger(len(runs), median(run.gap_us for run in runs) / 1e3)
    places = Places(tagged)
    for run, events in enumerate(runs):
        for kernel in events.kernels:
            node = places.find(kernel)
            shares = {} if node is None else split(node, table)
            if not shares:
                bucket = (node.bucket if node is not None else None) or "unattributed"
                _add(ledger.buckets[bucket], run, kernel, 1.0)
            for layer_id, share in shares.items():
                _add(ledger.layers[layer_id], run, kernel, share)
                if share > 0:
                    ledger.kernel_of.setdefault(layer_id, kernel)
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


def _add(spent: Spent, run: int, kernel: KernelEvent, share: float) -> None:
    spent.ms[run] += kernel.own_us * share / 1e3
    spent.executions[run] += 1
    spent.moved_bytes[run] += kernel.moved_bytes * share


class Places:
    """Finds the executed node of an event: by container and name; nameless nodes by operator, in order."""

    def __init__(self, tagged: TaggedSession) -> None:
        self._by_name = tagged.by_name
        self._nameless = tagged.nameless
        self._seen: dict[tuple[str | None, str], dict[str, int]] = defaultdict(dict)

    def find(self, kernel: KernelEvent) -> ExecutedNode | None:
        """The node of an event; None where the optimized graph has none of its name."""
        found = self._by_name.get((kernel.container, kernel.name))
        return found if found is not None else self._find_nameless(kernel)

    def _find_nameless(self, kernel: KernelEvent) -> ExecutedNode | None:
        """The runtime calls a nameless node `Operator_index`; both sides list them in order of execution."""
        key = (kernel.container, kernel.op_type)
        nodes: Sequence[ExecutedNode] = self._nameless.get(key, ())
        position = self._seen[key].setdefault(kernel.name, len(self._seen[key]))
        return nodes[position] if position < len(nodes) else None


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
