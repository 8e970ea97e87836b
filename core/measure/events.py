"""Events: onnxruntime's profile file, run by run, each kernel with its own time.

A container (`If`, `Loop`, `Scan`) is one event that spans those of its body; its own time is what is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.runtime.tags import CONTAINERS

_SUFFIX = "_kernel_time"
#: Operators that read as much of their input as they write, however large it is.
LOOK_UPS = frozenset({"Gather", "GatherElements", "GatherND", "GatherBlockQuantized", "Slice"})

Shapes = tuple[tuple[int, ...], ...]


@dataclass(slots=True)
class KernelEvent:
    """One execution of a kernel. `own_us` leaves out what ran inside it; bytes are those the runtime states.

    `container` is the name of the container node that it ran in, None at the top. `start_us` counts from the start of
    its run, `span_us` includes what ran inside it. `stored_bytes` of the `moved_bytes` are stored inputs; the
    runtime leaves out those that it keeps in an order of its own.
    """

    name: str
    op_type: str
    container: str | None
    own_us: float
    moved_bytes: int
    input_shapes: Shapes
    output_shapes: Shapes
    start_us: float = 0.0
    span_us: float = 0.0
    stored_bytes: int = 0

    @property
    def is_container(self) -> bool:
        """Whether other kernels run inside it."""
        return self.op_type in CONTAINERS


@dataclass(frozen=True, slots=True)
class RunEvents:
    """One run of the session: its wall time as the profiler saw it, and its kernels in order of their start.

    `arena_bytes` is the most that the runtime's memory arena held during it; None where the runtime does not tell.
    """

    wall_us: float
    kernels: tuple[KernelEvent, ...] = field(repr=False)
    arena_bytes: int | None = None

    @property
    def gap_us(self) -> float:
        """Time outside kernels."""
        return max(0.0, self.wall_us - sum(kernel.own_us for kernel in self.kernels))


def read_runs(path: Path) -> tuple[RunEvents, ...]:
    """Reads all runs of a profile file, in order."""
    events = json.loads(path.read_text())
    nodes = [event for event in events if event.get("cat") == "Node" and event["name"].endswith(_SUFFIX)]
    runs = [event for event in events if event.get("cat") == "Session" and event["name"] == "model_run"]
    runs.sort(key=lambda event: event["ts"])
    return tuple(_split_runs(runs, nodes))


def _split_runs(runs: Sequence[Mapping[str, Any]], nodes: Sequence[Mapping[str, Any]]) -> Iterator[RunEvents]:
    """Events stand in the file in order of their end, so those of a run follow one another."""
    position = 0
    for run in runs:
        end = run["ts"] + run["dur"]
        first = position
        while position < len(nodes) and nodes[position]["ts"] <= end:
            position += 1
        inside = nodes[first:position]
        held = [int(event["args"]["mem_arena_held"]) for event in inside if "mem_arena_held" in event["args"]]
        yield RunEvents(float(run["dur"]), tuple(_own_times(inside, run["ts"])), max(held, default=None))


def _own_times(nodes: Sequence[Mapping[str, Any]], run_start: float) -> list[KernelEvent]:
    """Kernels of one run by start; from each container's time that of the events directly inside it is taken off.

    Inside a container is what started after it and was written down before it. Ends alone do not tell: the clock counts
    whole microseconds, and a body may end in the same one as its container.
    """
    kernels = [_read_kernel(event, run_start) for event in nodes]
    waiting: list[KernelEvent] = []
    for kernel in kernels:
        if kernel.is_container:
            while waiting and waiting[-1].start_us >= kernel.start_us:
                inner = waiting.pop()
                inner.container = kernel.name
                kernel.own_us -= inner.span_us
            kernel.own_us = max(0.0, kernel.own_us)
        waiting.append(kernel)
    order = sorted(range(len(kernels)), key=lambda i: (kernels[i].start_us, not kernels[i].is_container, i))
    return [kernels[i] for i in order]


def _read_kernel(event: Mapping[str, Any], run_start: float) -> KernelEvent:
    told = event["args"]
    written, stored = _size(told, "output_size"), _size(told, "parameter_size")
    looks_up = told["op_name"] in LOOK_UPS
    return KernelEvent(
        name=event["name"].removesuffix(_SUFFIX),
        op_type=told["op_name"],
        container=None,
        own_us=float(event["dur"]),
        moved_bytes=2 * written if looks_up else written + stored + _size(told, "activation_size"),
        input_shapes=_shapes(told.get("input_type_shape")),
        output_shapes=_shapes(told.get("output_type_shape")),
        start_us=float(event["ts"] - run_start),
        span_us=float(event["dur"]),
        stored_bytes=0 if looks_up else stored,
    )


def _size(told: Mapping[str, Any], key: str) -> int:
    return int(told.get(key) or 0)


def _shapes(told: Sequence[Mapping[str, Sequence[int]]] | None) -> Shapes:
    return tuple(tuple(shape) for entry in told or () for shape in entry.values())
