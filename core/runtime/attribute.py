"""Read-back: what the runtime makes of a model, each executed node with the source layers it contains."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import onnx_ir as ir
import onnxruntime as ort

from core.errors import RunError
from core.runtime.claims import Joined
from core.runtime.executed import ExecutedGraph, ExecutedNode
from core.runtime.join import join
from core.runtime.optimized import OptimizedNode, read_optimized
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.tags import TaggedModel, tag_model
from core.runtime.told import retell


@dataclass(frozen=True)
class TaggedSession:
    """An open session of a tagged model, and what its executed nodes contain.

    `by_name` finds an executed node by the name of its container (None at the top) and its own name; `nameless` lists
    those without a name by container and operator, in order of execution.
    """

    session: ort.InferenceSession
    graph: ExecutedGraph
    by_name: Mapping[tuple[str | None, str], ExecutedNode] = field(repr=False)
    nameless: Mapping[tuple[str | None, str], tuple[ExecutedNode, ...]] = field(repr=False)


def read_executed(model: ir.Model, settings: SessionSettings) -> ExecutedGraph:
    """Opens a tagged copy of the model as real runs do and joins what the runtime executes with the source layers.

    A node's `mixdesk.layer` metadata names the layer it implements, `mixdesk.bucket` marks it as inserted; without
    either, the node is a layer of its own.

    Raises:
        RunError: the runtime refuses the model.
    """
    return open_tagged(model, settings, timed=False).graph


def open_tagged(
    model: ir.Model, settings: SessionSettings, *, profile_prefix: Path | None = None, timed: bool = True
) -> TaggedSession:
    """Opens a tagged copy of the model, optionally with the profiler on, and reads what it executes.

    Raises:
        RunError: the runtime refuses the model.
    """
    tagged = tag_model(model)
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        path = Path(folder) / "optimized.onnx"
        try:
            session = open_session(
                tagged.serialize(), settings, optimized_path=path, profile_prefix=profile_prefix, timed=timed
            )
        except RunError as error:
            raise retell(error, tagged) from error
        nodes = read_optimized(path, tagged)
    return _as_session(session, tagged, nodes)


def reopen_tagged(
    tagged: TaggedSession, model: ir.Model, settings: SessionSettings, *, profile_prefix: Path
) -> TaggedSession:
    """Opens the same model again: the runtime makes the same of it, so nothing is read back.

    Raises:
        RunError: the runtime refuses the model.
    """
    again = tag_model(model)
    try:
        session = open_session(again.serialize(), settings, profile_prefix=profile_prefix)
    except RunError as error:
        raise retell(error, again) from error
    return replace(tagged, session=session)


def _as_session(session: ort.InferenceSession, tagged: TaggedModel, nodes: tuple[OptimizedNode, ...]) -> TaggedSession:
    names = _unique_names(nodes)
    flow = _Flow(nodes)
    executed = [_executed(entry, name, tagged, flow) for entry, name in zip(join(tagged, nodes), names, strict=True)]
    by_name = {(node.container, node.name): found for node, found in zip(nodes, executed, strict=True) if node.name}
    nameless: dict[tuple[str | None, str], list[ExecutedNode]] = {}
    for node, found in zip(nodes, executed, strict=True):
        if not node.name:
            nameless.setdefault((node.container, node.op_type), []).append(found)
    frozen = {key: tuple(found) for key, found in nameless.items()}
    return TaggedSession(session, ExecutedGraph(tuple(executed)), by_name, frozen)


def _unique_names(nodes: tuple[OptimizedNode, ...]) -> list[str]:
    """The runtime's names; where one is empty or repeated in another body, operator or scope and a number are added."""
    counts = Counter(node.name for node in nodes)
    taken: Counter[str] = Counter()
    names = []
    for node in nodes:
        name = node.name
        if not name or counts[name] > 1:
            base = "/".join((*node.scope, name or node.op_type))
            taken[base] += 1
            name = f"{base}#{taken[base]}"
        names.append(name)
    return names


#: Element types of the numbers that layers pass on; integers of other sorts are shapes and indices.
_NUMBERS = frozenset({"", "float16", "bfloat16", "float32", "float64", "int8", "uint8"})


class _Flow:
    """Which numbers flow between the nodes of an optimized graph."""

    def __init__(self, nodes: tuple[OptimizedNode, ...]) -> None:
        self._written = {key for node in nodes for key in node.outputs}
        self._read = {key for node in nodes for key in node.data_inputs}

    def reads(self, node: OptimizedNode) -> tuple[str, ...]:
        """Keys of the numbers that a node takes at run time."""
        data = set(node.data_inputs)
        typed = zip(node.inputs, node.input_types, strict=True)
        return tuple(key for key, kind in typed if key in data and kind in _NUMBERS)

    def writes(self, node: OptimizedNode) -> tuple[str, ...]:
        """Keys of the numbers that it gives."""
        typed = zip(node.outputs, node.output_types, strict=True)
        return tuple(key for key, kind in typed if key and kind in _NUMBERS)

    def ends(self, node: OptimizedNode) -> bool:
        """Whether a node reads an input of the graph, or nobody reads what it writes."""
        return not self._written.issuperset(self.reads(node)) or not self._read.intersection(node.outputs)


def _executed(entry: Joined, name: str, tagged: TaggedModel, flow: _Flow) -> ExecutedNode:
    node = entry.node
    claimed = [tagged.nodes[tag] for tag in entry.claims]
    layers = tuple(dict.fromkeys(source.layer for source in sorted(claimed, key=lambda n: n.tag) if source.layer))
    inserted = next((source.bucket for source in claimed if source.bucket), None)
    bucket = None if layers else entry.moving or inserted or "unattributed"
    types = [kind for kind, key in zip(node.input_types, node.inputs, strict=True) if key in node.data_inputs]
    return ExecutedNode(
        name=name,
        op_type=node.op_type,
        domain=node.domain,
        scope=node.scope,
        layers=layers,
        bucket=bucket,
        stored_bytes=node.stored_bytes,
        element_types=(*types, *node.output_types),
        reads=flow.reads(node),
        writes=flow.writes(node),
        ends=flow.ends(node),
    )
