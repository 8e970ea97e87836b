"""Calibration: the range of every value that int8 may round, streamed sample by sample.

Smallest and largest element are computed inside the model (ReduceMin, ReduceMax), also in branches and loop bodies, so
that only two numbers per value leave a run: memory does not grow with samples or with activations.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir

from core.graph.constants import is_constant_value
from core.graph.layer import LayerTable
from core.intake.dataset import Dataset, Split
from core.intake.model import Model, serialize
from core.progress import Progress
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.transform.affine import Range
from core.transform.body import Body, find_body
from core.transform.expose import containers, expose_scalar
from core.transform.values import nodes_by_layer, value_keys


@dataclass(frozen=True, slots=True)
class Ranges:
    """Value key (see `values.py`) -> range over the calibration samples; `samples` were seen."""

    by_key: Mapping[str, Range]
    samples: int
    synthetic: bool


def calibrate(
    model: Model, table: LayerTable, dataset: Dataset, *, settings: SessionSettings, progress: Progress
) -> Ranges:
    """Runs the calibration split through the model and returns the range of all that any int8 recipe may round.

    Without a calibration sample there are no ranges, and each layer that needed one says so when it is placed.

    Raises:
        RunError: the runtime cannot run the model on a sample.
    """
    indices = dataset.indices(Split.CALIBRATION)
    if not indices:
        return Ranges({}, 0, dataset.synthetic)
    copy = model.copy_ir()
    wanted = _values_to_watch(copy, table)
    names = _watch(copy, wanted, value_keys(copy))
    session = open_session(serialize(copy), settings)
    seen: dict[str, Range] = {}
    for done, index in enumerate(indices, 1):
        outputs = run_session(session, dataset.feed(index))
        for key, (low, high) in names.items():
            found = _range_of(outputs[low], outputs[high])
            if found is not None:
                seen[key] = seen[key].union(found) if key in seen else found
        progress.step(done, len(indices), f"calibration sample {done}")
    return Ranges(seen, len(indices), dataset.synthetic)


def _values_to_watch(model: ir.Model, table: LayerTable) -> list[ir.Value]:
    nodes = nodes_by_layer(model)
    bodies = [find_body(group, table, nodes) for group in table.groups]
    found: dict[int, ir.Value] = {}
    for body in bodies:
        if isinstance(body, Body):
            for value in (*(node.inputs[number] for node, number in body.data_inputs), body.output):
                if value is not None and not is_constant_value(value):
                    found[id(value)] = value
    return list(found.values())


def _watch(model: ir.Model, values: Collection[ir.Value], keys: Mapping[int, str]) -> dict[str, tuple[str, str]]:
    """Adds the two reductions behind each value; returns key -> names of the model outputs that carry them."""
    owner = containers(model)
    names: dict[str, tuple[str, str]] = {}
    for number, value in enumerate(values):
        key = keys.get(id(value))
        graph = _graph_of(value)
        if key is None or graph is None:
            continue
        names[key] = (
            _reduce("ReduceMin", value, graph, f"mixdesk_low_{number}", owner),
            _reduce("ReduceMax", value, graph, f"mixdesk_high_{number}", owner),
        )
    return names


def _graph_of(value: ir.Value) -> ir.Graph | None:
    producer = value.producer()
    graph = producer.graph if producer is not None else value.graph
    return graph if isinstance(graph, ir.Graph) else None


def _reduce(op_type: str, value: ir.Value, graph: ir.Graph, name: str, owner: dict[int, ir.Node]) -> str:
    node = ir.node(op_type, [value], {"keepdims": 0}, name=name)
    node.outputs[0].name = name
    node.outputs[0].type = ir.TensorType(ir.DataType.FLOAT)
    node.outputs[0].shape = ir.Shape(())
    producer = value.producer()
    if producer is not None:
        producer.append(node)
    elif len(graph):
        graph.insert_before(graph[0], node)
    else:
        graph.append(node)
    return expose_scalar(node.outputs[0], graph, owner)


def _range_of(low: Any, high: Any) -> Range | None:
    """The range of one run; None where the value was not computed (its branch was not taken)."""
    low, high = np.asarray(low), np.asarray(high)
    if low.size == 0 or (low.ndim == 0 and np.isnan(low) and np.isnan(high)):
        return None
    return Range(float(low.min()), float(high.max()))


def ranges_by_value(model: ir.Model, ranges: Ranges) -> dict[int, Range]:
    """`id(value)` -> range, for the values of this copy."""
    keys = value_keys(model)
    return {value: ranges.by_key[key] for value, key in keys.items() if key in ranges.by_key}
