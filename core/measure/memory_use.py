"""Memory use: what a model holds while it runs: in the graph, in the runtime's arena, in its process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.graph.identity import walk
from core.graph.layer import LayerTable
from core.graph.liveness import Liveness, read_liveness
from core.graph.read import read_layers
from core.intake.model import Model
from core.measure.child import open_children
from core.measure.events import RunEvents
from core.measure.instrumented import Feed
from core.measure.profiled import Memory
from core.runtime.settings import SessionSettings


def measure_memory(
    model: Model,
    table: LayerTable,
    shapes: Mapping[str, tuple[int, ...]],
    *,
    process_peak_bytes: int | None,
) -> Memory:
    """What is known of a model's memory before the profiler tells what the arena held (`with_arena`).

    Args:
        model: what ran.
        table: the layers that the profile's rows are keyed by.
        shapes: of the inputs of one run.
        process_peak_bytes: of a process that only runs it.
    """
    return Memory(_liveness(model, table, shapes), None, process_peak_bytes)


def with_arena(memory: Memory, runs: Sequence[RunEvents]) -> Memory:
    """The same with the most that the runtime's arena held in any run."""
    arena = max((run.arena_bytes for run in runs if run.arena_bytes is not None), default=None)
    return replace(memory, arena_peak_bytes=arena)


def _liveness(model: Model, table: LayerTable, shapes: Mapping[str, tuple[int, ...]]) -> Liveness | None:
    """From the model's own layers: a candidate's are not those of the table."""
    own = [layer.id for layer in walk(model.ir)] == [layer.id for layer in table]
    return read_liveness(model, table if own else read_layers(model, shapes=shapes))


def process_peak(model: Model, feed: Feed, settings: SessionSettings) -> int:
    """Peak resident memory of a process that opens the model and runs one sample twice."""
    with open_children({"model": model.serialize()}, [feed], settings) as children:
        child = children["model"]
        child.run(0, times=2)
        return child.peak_bytes()
