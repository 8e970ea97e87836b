"""Timeline: the kernels of one real run in order, each with the layers it contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.graph.layer import LayerTable
from core.measure.events import KernelEvent, RunEvents
from core.runtime.executed import ExecutedNode

MOST_KERNELS = 20_000


@dataclass(frozen=True, slots=True)
class RunKernel:
    """One execution of a kernel: `start_ms` from the start of the run, `ms` its own time, `span_ms` with what it holds.

    `layers` are the ids it contains; where there are none, `bucket` says what it is. `container` is the layer in whose
    body it ran.
    """

    name: str
    op: str
    layers: tuple[str, ...]
    bucket: str | None
    start_ms: float
    ms: float
    span_ms: float
    container: str | None

    def to_dict(self) -> dict[str, Any]:
        """As in the `timeline` object."""
        return {
            "name": self.name,
            "op": self.op,
            "layers": list(self.layers),
            "bucket": self.bucket,
            "start_ms": self.start_ms,
            "ms": self.ms,
            "span_ms": self.span_ms,
            "container": self.container,
        }


@dataclass(frozen=True)
class Timeline:
    """One instrumented run: its wall time and its first kernels; `omitted` more ran."""

    ms: float
    kernels: tuple[RunKernel, ...] = field(repr=False)
    omitted: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The `timeline` object."""
        return {"ms": self.ms, "kernels": [kernel.to_dict() for kernel in self.kernels], "omitted": self.omitted}


def read_timeline(
    run: RunEvents, placed: Sequence[ExecutedNode | None], containers: Mapping[str, str], table: LayerTable
) -> Timeline:
    """Tells one run.

    Args:
        run: its events.
        placed: for each kernel of it, the executed node it is.
        containers: name of a container in the runtime -> its layer id.
        table: the layers that count.
    """
    kernels = tuple(
        _kernel(event, node, containers, table)
        for event, node in zip(run.kernels[:MOST_KERNELS], placed[:MOST_KERNELS], strict=True)
    )
    return Timeline(run.wall_us / 1e3, kernels, len(run.kernels) - len(kernels))


def _kernel(
    event: KernelEvent, node: ExecutedNode | None, containers: Mapping[str, str], table: LayerTable
) -> RunKernel:
    layers = () if node is None else tuple(layer_id for layer_id in node.layers if layer_id in table)
    return RunKernel(
        name=event.name if node is None else node.name,
        op=event.op_type,
        layers=layers,
        bucket=None if layers else (node.bucket if node is not None else None) or "unattributed",
        start_ms=event.start_us / 1e3,
        ms=event.own_us / 1e3,
        span_ms=event.span_us / 1e3,
        container=None if event.container is None else containers.get(event.container),
    )
