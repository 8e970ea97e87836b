"""The optimized graph: what onnxruntime saved of the graph it really runs, as a flat list in order of execution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from core.runtime.element_types import output_types
from core.runtime.tags import TaggedModel

#: Element types that a kernel of lower precision reads.
QUANTIZED_TYPES = frozenset({"int8", "uint8", "int4", "uint4", "int2", "uint2"})


@dataclass(frozen=True, slots=True)
class OptimizedNode:
    """One node of the optimized graph. `container` is the name of the node whose body holds it (None: main graph).

    `inputs` and `outputs` are keys of tensors, unique over all scopes ("" where an optional one is absent);
    `constant` says which inputs are stored; element types are numpy names, "" where the file does not tell. A reorder
    that is `channels_last` also does the work of a Transpose. `stored_bytes` is the size of its stored inputs.
    """

    name: str
    op_type: str
    domain: str
    scope: tuple[str, ...]
    container: str | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constant: tuple[bool, ...]
    input_types: tuple[str, ...]
    output_types: tuple[str, ...]
    activation: str | None
    channels_last: bool
    stored_bytes: int = 0

    @property
    def data_inputs(self) -> tuple[str, ...]:
        """Keys of the inputs that are computed or fed at run time."""
        return tuple(key for key, constant in zip(self.inputs, self.constant, strict=True) if key and not constant)


def read_optimized(path: Path, tagged: TaggedModel) -> tuple[OptimizedNode, ...]:
    """Reads a saved optimized model; `Constant` nodes are left out, bodies come right after their container."""
    model = ir.load(path)
    source_types = {
        value.name: value.dtype for node in tagged.model.graph.all_nodes() for value in node.outputs if value.name
    }
    return tuple(_walk(model.graph, (), None, _Namer(source_types)))


class _Namer:
    """Gives every tensor a key and an element type."""

    def __init__(self, source_types: dict[str, ir.DataType | None]) -> None:
        self._source_types = source_types
        self._main: dict[int, str] = {}
        self._inferred: dict[int, str] = {}

    def define(self, value: ir.Value, scope: tuple[str, ...]) -> str:
        name = value.name or ""
        key = "/".join((*scope, name)) if name and scope and name not in self._source_types else name
        self._main[id(value)] = key
        return key

    def key(self, value: ir.Value | None) -> str:
        return "" if value is None else self._main.get(id(value), value.name or "")

    def type_name(self, value: ir.Value | None) -> str:
        if value is None:
            return ""
        dtype = value.dtype
        if dtype is None and value.const_value is not None:
            dtype = value.const_value.dtype
        return _numpy_name(dtype) or self._inferred.get(id(value), "")

    def infer(self, node: ir.Node) -> None:
        """Settles the types of the outputs that the file leaves open."""
        cast = node.attributes.get("to") if node.op_type == "Cast" else None
        read = [self.type_name(value) for value in node.inputs]
        found = output_types(node.op_type, node.domain, read, len(node.outputs))
        for value, name in zip(node.outputs, found, strict=True):
            told = _numpy_name(ir.DataType(cast.as_int())) if cast is not None else name
            self._inferred[id(value)] = told or _numpy_name(self._source_types.get(value.name or ""))


def _numpy_name(dtype: ir.DataType | None) -> str:
    if dtype is None or dtype == ir.DataType.UNDEFINED:
        return ""
    return "str" if dtype == ir.DataType.STRING else str(dtype.numpy())


def _walk(graph: ir.Graph, scope: tuple[str, ...], container: str | None, namer: _Namer) -> Iterator[OptimizedNode]:
    for value in graph.inputs:
        if not value.is_initializer() and not (value.name or "").startswith("mxF"):
            namer.define(value, scope)
    for node in graph:
        for value in node.outputs:
            namer.define(value, scope)
        if node.op_type == "Constant" and node.domain == "":
            continue
        namer.infer(node)
        yield _read_node(node, scope, container, namer)
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                label = attribute.name.removesuffix("_branch")
                yield from _walk(attribute.as_graph(), (*scope, node.name or "", label), node.name, namer)


def _read_node(node: ir.Node, scope: tuple[str, ...], container: str | None, namer: _Namer) -> OptimizedNode:
    activation = node.attributes.get("activation")
    channels_last = node.attributes.get("channels_last")
    return OptimizedNode(
        name=node.name or "",
        op_type=node.op_type,
        domain=node.domain,
        scope=scope,
        container=container,
        inputs=tuple(namer.key(value) for value in node.inputs),
        outputs=tuple(namer.key(value) for value in node.outputs),
        constant=tuple(_is_stored(value) for value in node.inputs),
        input_types=tuple(namer.type_name(value) for value in node.inputs),
        output_types=tuple(namer.type_name(value) for value in node.outputs),
        activation=activation.as_string() if activation is not None else None,
        channels_last=channels_last is not None and bool(channels_last.as_int()),
        stored_bytes=sum(_stored_bytes(value) for value in dict.fromkeys(node.inputs)),
    )


def _stored_bytes(value: ir.Value | None) -> int:
    """Bytes of a stored tensor; 0 for what is computed, or of no fixed size."""
    if value is None or not _is_stored(value) or value.const_value is None:
        return 0
    tensor = value.const_value
    return 0 if tensor.dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED) else int(tensor.nbytes)


def _is_stored(value: ir.Value | None) -> bool:
    if value is None:
        return True
    producer = value.producer()
    if producer is not None:
        return producer.op_type == "Constant" and producer.domain == ""
    return value.is_initializer() and not value.is_graph_input()
