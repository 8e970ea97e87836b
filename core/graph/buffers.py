"""Buffers: which activations share memory, and during which steps each piece of memory is in use.

A buffer is what one activation is written to. It is in use from the step of its writer to that of the last reader of
anything in it. The rules are those of onnxruntime's CPU provider (its allocation planner; which kernels write in place
was measured with version 1.32, an arena that grows by what is asked, and one operator at a time):

- views (`Reshape`, `Squeeze`, `Unsqueeze`, `Flatten`, `Identity`) copy nothing, unless what they write is an output;
- activation functions, `Softmax` and casts between types of one size overwrite what they read where nothing reads it
  later. Arithmetic (`Add`, `Mul`, ...) and functions such as `Exp` never do;
- inputs of a graph and its outputs are never overwritten: they belong to the caller. An output lives to the end;
- what an `If` branch gives is written straight to what the `If` gives;
- what depends on no input is computed while the model is opened, and needs nothing during a run.

Of the graph as it is loaded: a fused kernel holds nothing of what lies between its layers. What a loop hands on
counts once, as what its body writes. Further outputs of a layer are taken to have the element type of the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from core.graph.cost import tensor_bytes
from core.graph.layer import Layer, LayerTable
from core.graph.shapes import Tensor
from core.intake.model import Model
from core.intake.scopes import Scope, bodies

_VIEWS = frozenset(("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"))
_OVERWRITING = frozenset((
    "Relu", "LeakyRelu", "ThresholdedRelu", "Elu", "Selu", "Celu", "Clip", "Sigmoid", "HardSigmoid", "Tanh", "Softplus",
    "Softsign", "Softmax", "LogSoftmax", "Cast",
))  # fmt: skip
_DRAWN = frozenset((
    "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli",
))  # fmt: skip
_DOMAINS = ("", "ai.onnx")


@dataclass(slots=True)
class Buffer:
    """Memory of one activation and of those that share it.

    `writer` is the id of the layer that wrote the first of them, None for an input of the model; `first` and `last` are
    the steps of its scope during which it is in use.
    """

    tensor: str
    writer: str | None
    size_bytes: int
    first: int
    last: int


@dataclass(slots=True)
class Body:
    """The layers of one scope in order, its buffers, and the bodies that run while a step does (one after the other).

    `written_bytes` adds up everything that is written or given, views left out: memory without any reuse.
    """

    layers: list[Layer] = field(default_factory=list)
    buffers: list[Buffer] = field(default_factory=list)
    inside: dict[int, list[Body]] = field(default_factory=dict)
    written_bytes: int = 0


def read_buffers(model: Model, table: LayerTable) -> Body:
    """The buffers of all scopes of a model, the outermost body first. An activation of unknown size counts nothing.

    Args:
        model: what the table was read from.
        table: its layers, with the sizes of one run.
    """
    graphs = dict(_graphs(model.ir.graph))
    scopes = _scopes(table)
    _note_last_reads(table, scopes)
    _add_inputs(model, table, scopes[()])
    for scope, found in scopes.items():
        _fill(found, scope, graphs[scope], scopes)
    return scopes[()].body


@dataclass(slots=True)
class _Scope:
    """A body while it is read: the step of each layer, the last step that reads a value, and each value's buffer."""

    body: Body = field(default_factory=Body)
    step_of: dict[str, int] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    last_read: dict[str, int] = field(default_factory=dict)
    buffer_of: dict[str, Buffer | None] = field(default_factory=dict)


def _graphs(graph: ir.Graph, scope: Scope = ()) -> Iterator[tuple[Scope, ir.Graph]]:
    yield scope, graph
    for node in graph:
        for label, body in bodies(node):
            yield from _graphs(body, (*scope, node.name or "", label))


def _scopes(table: LayerTable) -> dict[Scope, _Scope]:
    """All scopes that hold layers, outer ones first, with their layers in order."""
    scopes: dict[Scope, _Scope] = {(): _Scope()}
    for layer in table:
        if layer.scope not in scopes:
            outer = scopes[layer.scope[:-2]]
            scopes[layer.scope] = _Scope()
            step = outer.step_of["/".join(layer.scope[:-1])]
            outer.body.inside.setdefault(step, []).append(scopes[layer.scope].body)
        found = scopes[layer.scope]
        found.step_of[layer.id] = len(found.body.layers)
        found.body.layers.append(layer)
        found.written.update(layer.outputs)
    return scopes


def _note_last_reads(table: LayerTable, scopes: Mapping[Scope, _Scope]) -> None:
    """The last step that reads each value; a value from outside is read by the container that holds the reader."""
    for layer in table:
        for name in layer.inputs:
            scope = layer.scope
            while scope and name not in scopes[scope].written:
                scope = scope[:-2]
            found = scopes[scope]
            reader = layer.id if scope == layer.scope else "/".join(layer.scope[: len(scope) + 1])
            found.last_read[name] = max(found.last_read.get(name, 0), found.step_of[reader])


def _add_inputs(model: Model, table: LayerTable, top: _Scope) -> None:
    """The model's inputs are there from the start; their sizes are those that the layers see."""
    dtypes = {spec.name: spec.dtype for spec in model.inputs}
    for layer in table:
        for name, shape in zip(layer.inputs, layer.input_shapes, strict=True):
            if name in dtypes and name not in top.buffer_of:
                size = tensor_bytes(Tensor(shape, dtypes[name])) or 0
                _allocate(top, name, None, size, 0)


def _fill(found: _Scope, scope: Scope, graph: ir.Graph, scopes: Mapping[Scope, _Scope]) -> None:
    """Gives every value of one scope its buffer, in the order in which they are written."""
    end = len(found.body.layers)
    given = {value.name or "" for value in graph.outputs}
    kept = {value.name or "" for value in graph.inputs} | given
    to_container = _outputs_of_container(scope, graph, scopes)
    found.last_read.update((name, end) for name in given)
    for buffer in found.body.buffers:
        buffer.last = max(buffer.last, found.last_read.get(buffer.tensor, 0))
    for step, layer in enumerate(found.body.layers):
        constant = _is_constant(layer, scope, found)
        for position, name in enumerate(layer.outputs):
            view = position == 0 and layer.op_type in _VIEWS and layer.domain in _DOMAINS
            if not name:
                continue
            if name not in given and (constant or view):
                _look_through(found, name, None if constant else found.buffer_of.get(layer.inputs[0]))
            elif name not in given and position == 0 and _overwrites(layer, step, kept, found):
                _look_through(found, name, found.buffer_of[layer.inputs[0]])
                found.body.written_bytes += _output_bytes(layer, position)
            else:
                size = 0 if name in to_container else _output_bytes(layer, position)
                _allocate(found, name, layer.id, size, step)


def _outputs_of_container(scope: Scope, graph: ir.Graph, scopes: Mapping[Scope, _Scope]) -> frozenset[str]:
    """Names of what a branch writes straight to the outputs of its `If`, where the size of these is known."""
    if not scope:
        return frozenset()
    outer = scopes[scope[:-2]]
    container = outer.body.layers[outer.step_of["/".join(scope[:-1])]]
    if container.op_type != "If":
        return frozenset()
    pairs = zip(graph.outputs, range(len(container.outputs)), strict=False)
    return frozenset(value.name or "" for value, position in pairs if _output_bytes(container, position))


def _is_constant(layer: Layer, scope: Scope, found: _Scope) -> bool:
    """Whether a layer computes the same in every run: it reads nothing but weights and what follows from them."""
    if scope or layer.op_type in _DRAWN or found.step_of[layer.id] in found.body.inside:
        return False
    return all(found.buffer_of.get(name) is None for name in layer.inputs)


def _overwrites(layer: Layer, step: int, kept: set[str], found: _Scope) -> bool:
    """Whether a layer writes into the buffer of its first input, which nothing needs any more."""
    if layer.op_type not in _OVERWRITING or layer.domain not in _DOMAINS or not layer.inputs:
        return False
    source = layer.inputs[0]
    buffer = found.buffer_of.get(source)
    if buffer is None or buffer.last != step or {buffer.tensor, source} & kept:
        return False
    shape = layer.input_shapes[0]
    return shape is not None and shape == layer.output_shapes[0] and buffer.size_bytes == _output_bytes(layer, 0)


def _look_through(found: _Scope, name: str, buffer: Buffer | None) -> None:
    """A value without memory of its own: it lies in a buffer, or in what the caller, the weights or the loop hold."""
    found.buffer_of[name] = buffer
    if buffer is not None:
        buffer.last = max(buffer.last, found.last_read.get(name, 0))


def _allocate(found: _Scope, name: str, writer: str | None, size_bytes: int, step: int) -> None:
    """A new buffer; a value that nothing reads lives for one step."""
    buffer = Buffer(name, writer, size_bytes, step, max(step, found.last_read.get(name, step)))
    found.buffer_of[name] = buffer
    found.body.buffers.append(buffer)
    found.body.written_bytes += size_bytes


def _output_bytes(layer: Layer, position: int) -> int:
    if len(layer.outputs) == 1:
        return layer.activation_bytes or 0
    return tensor_bytes(Tensor(layer.output_shapes[position], layer.dtype)) or 0
