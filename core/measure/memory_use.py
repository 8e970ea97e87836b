"""Memory use: what a model holds while it runs: in the graph, in the runtime's arena, in its process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.graph.identity import walk
from core.graph.layer import LayerTable
from core.graph.liveness import activation_peak_bytes
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
    runs: Sequence[RunEvents],
    feed: Feed,
    settings: SessionSettings,
) -> Memory:
    """Peaks of a model.

    Args:
        model: what ran.
        table: the layers that the profile's rows are keyed by.
        shapes: of the inputs of one run.
        runs: the profiler's, which tell what the arena held.
        feed: what a process of its own runs.
        settings: of its session.
    """
    arena = max((run.arena_bytes for run in runs if run.arena_bytes is not None), default=None)
    return Memory(_activation_peak(model, table, shapes), arena, _process_peak(model, feed, settings))


def _activation_peak(model: Model, table: LayerTable, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """From the model's own layers: a candidate's are not those of the table."""
    own = [layer.id for layer in walk(model.ir)] == [layer.id for layer in table]
    return activation_peak_bytes(model, table if own else read_layers(model, shapes=shapes))


def _process_peak(model: Model, feed: Feed, settings: SessionSettings) -> int:
    """Peak resident memory of a process that opens the model and runs one sample twice."""
    with open_children({"model": model.serialize()}, [feed], settings) as children:
        child = children["model"]
        child.run(0, times=2)
        return child.peak_bytes()
