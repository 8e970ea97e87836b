"""Looking: what the rules of the advice see, out of measured rows, kernels of the executed graph, and the runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.graph.layer import LayerTable
from core.measure.kernel_times import KernelTimes
from core.measure.places import Places
from core.measure.profiled import Cold, LayerTime, Wall
from core.measure.profiler_cost import ProfilerCost
from core.measure.seen import Seen, SeenKernel, SeenLayer
from core.runtime.attribute import TaggedSession
from core.runtime.conditions import Conditions
from core.runtime.cores import usable_cores
from core.runtime.executed import ExecutedNode
from core.runtime.kernel_precision import kernel_precision

_X86 = ("x86_64", "AMD64", "i686")


@dataclass(frozen=True, slots=True)
class Measures:
    """What a profile measured: rows of layers, buckets, latency, cold start, how many runs, and under what."""

    layers: Sequence[LayerTime]
    buckets: Mapping[str, float]
    wall: Wall
    cold: Cold
    runs: int
    disturbed: int
    conditions: Conditions


def look(measures: Measures, kernels: Sequence[SeenKernel], table: LayerTable) -> Seen:
    """All that is seen of one profile."""
    kernel_ms = sum(row.ms for row in measures.layers) + sum(measures.buckets.values())
    return Seen(
        kernel_ms=kernel_ms,
        layers=tuple(_layer(row, table) for row in measures.layers),
        buckets=measures.buckets,
        kernels=kernels,
        runs=measures.runs,
        disturbed=measures.disturbed,
        wall_ms=measures.wall.median_ms,
        load_ms=measures.cold.load_ms,
        first_run_ms=measures.cold.first_run_ms,
        threads=measures.conditions.threads,
        batch=measures.conditions.batch,
        cores=usable_cores(),
        x86=measures.conditions.os.endswith(_X86),
    )


def _layer(row: LayerTime, table: LayerTable) -> SeenLayer:
    return SeenLayer(
        id=row.layer.id,
        op=row.layer.op_type,
        ms=row.ms,
        limited_by=row.limited_by,
        runs=row.runs,
        precision=row.precision,
        group=row.layer.group,
        feeders=table.predecessors[row.layer.id],
        readers=table.successors[row.layer.id],
        attained=row.reached.attained,
        gflops=row.reached.gflops,
    )


def seen_kernels(
    times: KernelTimes, cost: ProfilerCost, tagged: TaggedSession, table: LayerTable
) -> tuple[SeenKernel, ...]:
    """The kernels that ran, each with what it reads and writes, without the profiler's part in their times."""
    places = Places(tagged, (kernel.event for kernel in times.kernels))
    found = []
    for kernel in times.kernels:
        node = places.find(kernel.event)
        if node is not None:
            found.append(_kernel(node, cost.without(kernel) / 1e3, table))
    return tuple(found)


def _kernel(node: ExecutedNode, ms: float, table: LayerTable) -> SeenKernel:
    return SeenKernel(
        op=node.op_type,
        ms=ms,
        layers=tuple(layer for layer in node.layers if layer in table),
        bucket=node.bucket,
        precision=kernel_precision(node),
        reads=node.reads,
        writes=node.writes,
        types=node.element_types,
        ends=node.ends,
    )
