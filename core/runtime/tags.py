"""Tags: a copy of a model whose node and tensor names carry the number of their layer.

onnxruntime fuses, renames and moves nodes, but it builds the new names from the old ones. A name such as `mxL12x` or
`mxL12xo0_nchwc` in the graph it really runs therefore still says which source node it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx_ir as ir

from core.graph.identity import LayerNode, walk
from core.runtime.executed import Bucket

_TAG = re.compile(r"mxL(\d+)x")
_DERIVED = re.compile(r"(?:_nchwc|_token_\d+)+$")

#: Metadata that a candidate's nodes carry: the layer they implement, or the bucket of an inserted node.
LAYER_KEY = "mixdesk.layer"
BUCKET_KEY = "mixdesk.bucket"
_INSERTED: Mapping[str, Bucket] = {"quantize": "quantize", "cast": "cast", "copy": "copy"}

CONTAINERS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


@dataclass(frozen=True, slots=True)
class SourceNode:
    """One node of the tagged model: its number, the layer (or bucket) it stands for, and its tensors' tagged names.

    `computed` is False where every input is a constant: the runtime folds such a node away.
    """

    tag: int
    layer: str | None
    bucket: Bucket | None
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    computed: bool


@dataclass(frozen=True)
class TaggedModel:
    """The renamed copy, and what each tag means. Names of the main graph's inputs and outputs are as they were."""

    model: ir.Model
    nodes: tuple[SourceNode, ...]
    producers: Mapping[str, int]
    consumers: Mapping[str, tuple[int, ...]]
    fed: frozenset[str]
    _outputs: Mapping[str, int] = field(repr=False)

    def tags_in(self, name: str) -> tuple[int, ...]:
        """The tags that a node or tensor name of the optimized graph carries, in order, each once."""
        found = [int(tag) for tag in _TAG.findall(name)]
        if not found:
            plain = _DERIVED.sub("", name)
            found = [self._outputs[plain]] if plain in self._outputs else []
        return tuple(dict.fromkeys(tag for tag in found if tag < len(self.nodes)))

    def knows(self, value: str) -> bool:
        """Whether a tensor of this name exists in the source: written by a node, or fed at run time."""
        return value in self.producers or value in self.fed

    def named_value(self, node_name: str) -> str | None:
        """The source tensor after which a node of the optimized graph was named (`mxL12xo0_nchwc`), if it was."""
        plain = _DERIVED.sub("", node_name)
        return plain if plain in self.producers else None

    def to_bytes(self) -> bytes:
        """The tagged model as a serialized ModelProto."""
        return ir.to_proto(self.model).SerializeToString()


def tag_model(model: ir.Model) -> TaggedModel:
    """Copies a model and renames every node and computed tensor by a tag; inputs and outputs of the main graph stay.

    Initializers and `Constant` nodes keep their names: a copy shares its tensors with the original, and renaming an
    initializer would rename the shared tensor.
    """
    copy = model.clone()
    kept = {id(value) for value in (*copy.graph.inputs, *copy.graph.outputs)}
    layers = list(walk(copy))
    for tag, layer in enumerate(layers):
        _rename(layer.node, tag, kept)
    computed = _computed_nodes(layers)
    nodes = tuple(_source_node(tag, layer, computed) for tag, layer in enumerate(layers))
    producers = {name: node.tag for node in nodes for name in node.outputs if name}
    outputs = {value.name: producers[value.name] for value in copy.graph.outputs if value.name in producers}
    return TaggedModel(copy, nodes, producers, _consumers(nodes), frozenset(_fed_names(copy, layers)), outputs)


def _rename(node: ir.Node, tag: int, kept: set[int]) -> None:
    node.name = f"mxL{tag}x"
    for position, value in enumerate(node.outputs):
        if id(value) not in kept and value.name and not value.is_initializer():
            value.name = f"mxL{tag}xo{position}"
    for label, body in _bodies(node):
        for position, value in enumerate(body.inputs):
            if not value.is_initializer():
                value.name = f"mxF{tag}x{label}{position}"


def _bodies(node: ir.Node) -> Iterator[tuple[str, ir.Graph]]:
    for attribute in node.attributes.values():
        if attribute.is_ref():
            continue
        if attribute.type == ir.AttributeType.GRAPH:
            yield attribute.name, attribute.as_graph()
        elif attribute.type == ir.AttributeType.GRAPHS:
            yield from ((f"{attribute.name}{i}", body) for i, body in enumerate(attribute.as_graphs()))


def _computed_nodes(layers: list[LayerNode]) -> frozenset[int]:
    """Identities of the nodes that depend on something fed at run time, or choose for themselves (random, containers)."""
    found: set[int] = set()
    for layer in layers:
        node = layer.node
        values = [value for value in node.inputs if value is not None]
        if node.op_type in CONTAINERS or not values or any(_is_computed(value, found) for value in values):
            found.add(id(node))
    return frozenset(found)


def _is_computed(value: ir.Value, computed: set[int]) -> bool:
    producer = value.producer()
    if producer is not None:
        return id(producer) in computed
    return value.is_graph_input() or not value.is_initializer()


def _source_node(tag: int, layer: LayerNode, computed: frozenset[int]) -> SourceNode:
    node = layer.node
    bucket = _INSERTED.get(node.metadata_props.get(BUCKET_KEY, ""))
    return SourceNode(
        tag=tag,
        layer=None if bucket else node.metadata_props.get(LAYER_KEY, layer.id),
        bucket=bucket,
        op_type=node.op_type,
        domain=node.domain,
        inputs=tuple("" if value is None else value.name or "" for value in node.inputs),
        outputs=tuple(value.name or "" for value in node.outputs),
        computed=id(node) in computed,
    )


def _consumers(nodes: tuple[SourceNode, ...]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for node in nodes:
        for name in dict.fromkeys(filter(None, node.inputs)):
            found.setdefault(name, []).append(node.tag)
    return {name: tuple(tags) for name, tags in found.items()}


def _fed_names(model: ir.Model, layers: list[LayerNode]) -> Iterator[str]:
    yield from (value.name for value in model.graph.inputs if value.name)
    for layer in layers:
        for _, body in _bodies(layer.node):
            yield from (value.name for value in body.inputs if value.name)
