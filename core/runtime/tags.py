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
from core.intake.model import Serialized, serialize
from core.runtime.executed import Bucket

_TAG = re.compile(r"mxL(\d+)x")
_DERIVED = re.compile(r"(?:_nchwc|_mul|_bn|_token_\d+)+$")
_RECAST = re.compile(r"^(?:Inserted\w*Cast_)+")

#: Metadata that a candidate's nodes carry: the layer they implement, or the bucket of an inserted node.
LAYER_KEY = "mixdesk.layer"
BUCKET_KEY = "mixdesk.bucket"
_INSERTED: Mapping[str, Bucket] = {"quantize": "quantize", "cast": "cast", "copy": "copy"}

#: Operators that do nothing at inference and vanish.
VANISHING = frozenset({"Identity", "Dropout"})

CONTAINERS = frozenset({"If", "Loop", "Scan", "SequenceMap"})


@dataclass(frozen=True, slots=True)
class SourceNode:
    """One node of the tagged model: its number, the layer (or bucket) it stands for, and its tensors' tagged names.

    Inputs are looked through operators that do nothing at inference (Identity, Dropout), which the runtime removes.
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
    """The renamed copy, and what each tag means. Names of the main graph's inputs and outputs are as they were.

    `producers` and `consumers` know tensors by their tagged names (nodes that do nothing are left out); `fed` are those
    given at run time or to a body; `exposed` those that leave a graph.
    """

    model: ir.Model
    nodes: tuple[SourceNode, ...]
    producers: Mapping[str, int]
    consumers: Mapping[str, tuple[int, ...]]
    fed: frozenset[str]
    exposed: frozenset[str]
    _passed: Mapping[str, str] = field(repr=False)
    _outputs: Mapping[str, int] = field(repr=False)

    def tags_in(self, name: str) -> tuple[int, ...]:
        """The tags that a node or tensor name of the optimized graph carries, in order, each once."""
        found = [int(tag) for tag in _TAG.findall(name)]
        if not found:
            plain = _DERIVED.sub("", name)
            found = [self._outputs[plain]] if plain in self._outputs else []
        return tuple(dict.fromkeys(tag for tag in found if tag < len(self.nodes)))

    def value(self, name: str) -> str | None:
        """The source tensor of that name, looked through operators that do nothing; None where there is none.

        `InsertedCast_x` is the tensor x in another element type.
        """
        name = _RECAST.sub("", name)
        name = self._passed.get(name, name)
        return name if name in self.producers or name in self.fed else None

    def named_value(self, node_name: str) -> str | None:
        """The computed source tensor after which an optimized node was named (`mxL12xo0_nchwc`), if it was."""
        value = self.value(_DERIVED.sub("", node_name))
        return value if value in self.producers else None

    def before(self, tag: int) -> list[int]:
        """The source nodes that write what this one reads."""
        return [self.producers[name] for name in self.nodes[tag].inputs if name in self.producers]

    def after(self, tag: int) -> list[int]:
        """The source nodes that read what this one writes."""
        return [reader for name in self.nodes[tag].outputs for reader in self.consumers.get(name, ())]

    def serialize(self) -> Serialized:
        """The tagged model as bytes; weights in other files stay there."""
        return serialize(self.model)


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
    passed = _passed_names(layers)
    computed = _computed_nodes(layers)
    nodes = tuple(_source_node(tag, layer, computed, passed) for tag, layer in enumerate(layers))
    written = {name: node.tag for node in nodes for name in node.outputs if name}
    return TaggedModel(
        model=copy,
        nodes=nodes,
        producers={name: tag for name, tag in written.items() if name not in passed},
        consumers=_consumers(nodes),
        fed=frozenset(_fed_names(copy, layers)),
        exposed=frozenset(_exposed_names(copy, layers, passed)),
        _passed=passed,
        _outputs={value.name: written[value.name] for value in copy.graph.outputs if value.name in written},
    )


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


def _passed_names(layers: list[LayerNode]) -> dict[str, str]:
    """Output name -> name of the tensor that it merely repeats."""
    passed: dict[str, str] = {}
    for layer in layers:
        node = layer.node
        if node.op_type in VANISHING and node.domain == "" and node.inputs and node.inputs[0] is not None:
            source = node.inputs[0].name or ""
            passed[node.outputs[0].name or ""] = passed.get(source, source)
    return passed


def _computed_nodes(layers: list[LayerNode]) -> frozenset[int]:
    """Identities of the nodes that depend on something fed at run time, or on nothing (random numbers, containers)."""
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
    return not value.is_initializer()


def _source_node(tag: int, layer: LayerNode, computed: frozenset[int], passed: Mapping[str, str]) -> SourceNode:
    node = layer.node
    read = ("" if value is None else value.name or "" for value in node.inputs)
    bucket = _INSERTED.get(node.metadata_props.get(BUCKET_KEY, ""))
    return SourceNode(
        tag=tag,
        layer=None if bucket else node.metadata_props.get(LAYER_KEY, layer.id),
        bucket=bucket,
        op_type=node.op_type,
        domain=node.domain,
        inputs=tuple(passed.get(name, name) for name in read),
        outputs=tuple(value.name or "" for value in node.outputs),
        computed=id(node) in computed,
    )


def _consumers(nodes: tuple[SourceNode, ...]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for node in nodes:
        for name in () if node.op_type in VANISHING else dict.fromkeys(filter(None, node.inputs)):
            found.setdefault(name, []).append(node.tag)
    return {name: tuple(tags) for name, tags in found.items()}


def _fed_names(model: ir.Model, layers: list[LayerNode]) -> Iterator[str]:
    yield from (value.name for value in model.graph.inputs if value.name)
    for layer in layers:
        for _, body in _bodies(layer.node):
            yield from (value.name for value in body.inputs if value.name)


def _exposed_names(model: ir.Model, layers: list[LayerNode], passed: Mapping[str, str]) -> Iterator[str]:
    graphs = (model.graph, *(body for layer in layers for _, body in _bodies(layer.node)))
    names = (value.name or "" for graph in graphs for value in graph.outputs)
    yield from (passed.get(name, name) for name in names)
