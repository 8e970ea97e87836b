"""Liveness: how much memory activations need at the worst moment, if each lives from its writer to its last reader.

Layers run in graph order; the model's inputs count, weights do not. A container adds the peak of its worst body to what
lives around it. The runtime may need more (rounding, fragmentation) or less (values that share memory).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.graph.cost import tensor_bytes
from core.graph.layer import Layer, LayerTable
from core.graph.shapes import Tensor
from core.intake.model import Model
from core.intake.scopes import Scope


@dataclass(slots=True)
class _Value:
    """One activation: its size and the steps of its scope from which and to which it lives."""

    size_bytes: int
    first: int
    last: int


@dataclass(slots=True)
class _Body:
    """The layers of one scope in order, the values they write, and the bodies that run at a step."""

    layers: list[Layer] = field(default_factory=list)
    step_of: dict[str, int] = field(default_factory=dict)
    values: dict[str, _Value] = field(default_factory=dict)
    nested: dict[int, list[Scope]] = field(default_factory=dict)


def activation_peak_bytes(model: Model, table: LayerTable) -> int | None:
    """The largest sum of bytes that live at one step. Unknown sizes count nothing; None where all are unknown."""
    if len(table) and all(layer.activation_bytes is None for layer in table):
        return None
    bodies = _bodies(table)
    _add_inputs(model, table, bodies[()])
    for layer in table:
        _extend_lives(layer, bodies)
    for spec in model.outputs:
        if spec.name in bodies[()].values:
            bodies[()].values[spec.name].last = len(bodies[()].layers)
    return _peak((), bodies)


def _bodies(table: LayerTable) -> dict[Scope, _Body]:
    """Every scope with its layers and what they write; a value that nothing reads lives for one step."""
    bodies: dict[Scope, _Body] = {(): _Body()}
    for layer in table:
        if layer.scope not in bodies:
            outer = bodies[layer.scope[:-2]]
            outer.nested.setdefault(outer.step_of["/".join(layer.scope[:-1])], []).append(layer.scope)
            bodies[layer.scope] = _Body()
        body = bodies[layer.scope]
        step = len(body.layers)
        body.layers.append(layer)
        body.step_of[layer.id] = step
        for position, name in enumerate(layer.outputs):
            body.values[name] = _Value(_output_bytes(layer, position), step, step)
    return bodies


def _output_bytes(layer: Layer, position: int) -> int:
    """Bytes of one output; further outputs are taken to have the element type of the first."""
    if len(layer.outputs) == 1:
        return layer.activation_bytes or 0
    return tensor_bytes(Tensor(layer.output_shapes[position], layer.dtype)) or 0


def _add_inputs(model: Model, table: LayerTable, body: _Body) -> None:
    """The model's inputs live from the start; their sizes are those that the layers see."""
    dtypes = {spec.name: spec.dtype for spec in model.inputs}
    for layer in table:
        for name, shape in zip(layer.inputs, layer.input_shapes, strict=True):
            if name in dtypes and name not in body.values:
                body.values[name] = _Value(tensor_bytes(Tensor(shape, dtypes[name])) or 0, 0, 0)


def _extend_lives(layer: Layer, bodies: dict[Scope, _Body]) -> None:
    """Lets what a layer reads live until it; for values from outside, until the container that holds the layer."""
    for name in layer.inputs:
        for scope in _outward(layer.scope):
            value = bodies[scope].values.get(name)
            if value is not None:
                reader = layer.id if scope == layer.scope else "/".join(layer.scope[: len(scope) + 1])
                value.last = max(value.last, bodies[scope].step_of[reader])
                break


def _outward(scope: Scope) -> Iterator[Scope]:
    while scope:
        yield scope
        scope = scope[:-2]
    yield ()


def _peak(scope: Scope, bodies: dict[Scope, _Body]) -> int:
    body = bodies[scope]
    changes = [0] * (len(body.layers) + 2)
    for value in body.values.values():
        changes[value.first] += value.size_bytes
        changes[value.last + 1] -= value.size_bytes
    peak, live = 0, 0
    for step, change in enumerate(changes):
        live += change
        inner = max((_peak(nested, bodies) for nested in body.nested.get(step, ())), default=0)
        peak = max(peak, live + inner)
    return peak
