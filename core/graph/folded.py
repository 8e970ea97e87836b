"""Folded: modules within modules, each with a layout of what stands directly inside it.

A drawing of the graph with some modules collapsed is put together from these, outermost first, so that opening one
module lays nothing out anew. What a module holds is named by module paths; the body of a container (`If`, `Loop`,
`Scan`) is a module named by its branch, beside the container. Modules that hold a single thing give way to it. Where a
module holds more than `MOST_INSIDE` things side by side (names without paths), stretches of the graph stand between:
they are cut where the fewest values cross.

Modules need not be convex: one may feed another that feeds it back. Then the order of the graph decides who stands
left, and the links that lead back do not count for the layout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.graph.columns import neighbours, place_in_columns
from core.graph.layer import Layer, LayerTable

#: The index of each layer -> the indices of those it feeds.
Behind = Sequence[Sequence[int]]

#: More things than this side by side are bundled into stretches.
MOST_INSIDE = 150
#: Into so many stretches at most, and of so many things at least.
_MOST_STRETCHES, _SHORTEST_STRETCH = 100, 24
#: How far (as a share of its length) a stretch may be longer or shorter to be cut at a narrow place.
_SLACK = 0.3


@dataclass(frozen=True, slots=True)
class Inside:
    """One thing directly inside a module: a layer or another module, and where it stands there."""

    layer: str | None
    module: str | None
    x: float
    y: float

    def to_dict(self) -> dict[str, Any]:
        """As the `inspect` document has it."""
        return {"layer": self.layer, "module": self.module, "x": self.x, "y": self.y}


@dataclass(frozen=True, slots=True)
class Module:
    """A module that can be collapsed: its path ("" is the whole model), what it holds, and how many layers in all.

    `kind` is "model", "module", "body" (of a container) or "stretch" (layers that follow one another).
    """

    path: str
    name: str
    kind: str
    layers: int
    inside: tuple[Inside, ...]

    def to_dict(self) -> dict[str, Any]:
        """As the `inspect` document has it."""
        return {
            "path": self.path,
            "name": self.name,
            "kind": self.kind,
            "layers": self.layers,
            "inside": [part.to_dict() for part in self.inside],
        }


@dataclass(slots=True)
class _Node:
    """A module while the tree grows; a leaf holds one layer (its index in the graph) and nothing else."""

    name: str
    kind: str
    layer: int | None = None
    parts: list[_Node] = field(default_factory=list)
    by_name: dict[tuple[str, str], _Node] = field(default_factory=dict)

    def child(self, kind: str, name: str) -> _Node:
        """The module of that name in it, made where there is none."""
        if (kind, name) not in self.by_name:
            self.by_name[kind, name] = made = _Node(name, kind)
            self.parts.append(made)
        return self.by_name[kind, name]


def fold_modules(table: LayerTable) -> tuple[Module, ...]:
    """All modules of a model, the whole model first and every module before what it holds."""
    layers = list(table)
    root = _Node("", "model")
    scopes: dict[str, tuple[tuple[str, str], ...]] = {}
    for number, layer in enumerate(layers):
        path = _path(layer, scopes)
        scopes[layer.id] = path
        here = root
        for kind, name in path:
            here = here.child(kind, name)
        here.parts.append(_Node(layer.id, "layer", number))
    index = {layer.id: number for number, layer in enumerate(layers)}
    _, behind = neighbours(len(layers), [(index[source], index[target]) for source, target in table.edges])
    _simplify(root)
    _bundle(root, behind)
    return tuple(_modules(root, layers, behind))


def _path(layer: Layer, known: Mapping[str, tuple[tuple[str, str], ...]]) -> tuple[tuple[str, str], ...]:
    """Kind and name of every module around a layer; that of a body begins with the path of its container."""
    if not layer.scope:
        return tuple(("module", name) for name in layer.module)
    container = "/".join(layer.scope[:-1])
    around = known.get(container, ())
    own = tuple(("module", name) for name in layer.module)
    shared = 0
    while shared < min(len(own), len(around)) and own[shared] == around[shared]:
        shared += 1
    name = f"{container.rpartition('/')[2] or container} {layer.scope[-1]}"
    return (*around, ("body", name), *own[shared:])


def _simplify(node: _Node) -> None:
    """Replaces each module that holds one thing by that thing; the names of modules are joined."""
    stack = [node]
    order = []
    while stack:
        here = stack.pop()
        order.append(here)
        stack.extend(part for part in here.parts if part.layer is None)
    for here in reversed(order):
        here.parts = [_sole(part) for part in here.parts]


def _sole(part: _Node) -> _Node:
    if part.layer is not None or len(part.parts) != 1:
        return part
    only = part.parts[0]
    if only.layer is None:
        only.name = f"{part.name}/{only.name}"
        only.kind = part.kind if part.kind == "body" else only.kind
    return only


def _bundle(root: _Node, behind: Behind) -> None:
    """Puts stretches between a module and too many things directly inside it."""
    stack = [root]
    while stack:
        node = stack.pop()
        if len(node.parts) > MOST_INSIDE:
            node.parts = _stretches(node, behind)
        stack.extend(part for part in node.parts if part.layer is None)


def _stretches(node: _Node, behind: Behind) -> list[_Node]:
    parts = sorted(node.parts, key=_first)
    crossing = [0] * (len(parts) + 1)
    for source, target in _links([list(_layers_of(part)) for part in parts], behind):
        crossing[source + 1] += 1
        crossing[target + 1] -= 1
    for at in range(1, len(crossing)):
        crossing[at] += crossing[at - 1]
    made = []
    for start, end in _cuts(crossing, len(parts)):
        stretch = _Node(f"{start + 1} to {end}", "stretch", parts=parts[start:end])
        made.append(stretch if end - start > 1 else parts[start])
    return made


def _cuts(crossing: Sequence[int], count: int) -> Iterator[tuple[int, int]]:
    """Start and end of each stretch: about equally long, cut where the fewest links cross."""
    length = max(_SHORTEST_STRETCH, math.ceil(math.sqrt(count)), math.ceil(count / _MOST_STRETCHES))
    start = 0
    while start < count:
        wished = start + length
        slack = int(length * _SLACK)
        if wished + slack >= count:
            yield start, count
            return
        end = min(range(wished - slack, wished + slack + 1), key=lambda at: (crossing[at], abs(at - wished)))
        yield start, end
        start = end


def _first(part: _Node) -> int:
    """The index of its first layer."""
    return min(_layers_of(part))


def _layers_of(part: _Node) -> Iterator[int]:
    stack = [part]
    while stack:
        here = stack.pop()
        if here.layer is not None:
            yield here.layer
        stack.extend(here.parts)


def _modules(root: _Node, layers: Sequence[Layer], behind: Behind) -> Iterator[Module]:
    stack = [(root, "")]
    while stack:
        node, path = stack.pop()
        parts = sorted(node.parts, key=_first)
        paths = [None if part.layer is not None else _below(path, part) for part in parts]
        held = [list(_layers_of(part)) for part in parts]
        points = _place(held, behind)
        inside = tuple(
            Inside(None if part.layer is None else layers[part.layer].id, below, round(x, 3), round(y, 3))
            for part, below, (x, y) in zip(parts, paths, points, strict=True)
        )
        yield Module(path, node.name, node.kind, sum(map(len, held)), inside)
        deeper = [(part, below) for part, below in zip(parts, paths, strict=True) if below is not None]
        stack.extend(reversed(deeper))


def _below(path: str, part: _Node) -> str:
    name = {"stretch": f"[{part.name}]", "body": f"({part.name})"}.get(part.kind, part.name)
    return f"{path}/{name}" if path else name


def _place(held: Sequence[Sequence[int]], behind: Behind) -> list[tuple[float, float]]:
    """Where each part stands; they are in the order of the graph, and links against it do not count."""
    return place_in_columns(len(held), _links(held, behind))


def _links(held: Sequence[Sequence[int]], behind: Behind) -> list[tuple[int, int]]:
    """Which part feeds which later one."""
    part_of = {layer: at for at, layers in enumerate(held) for layer in layers}
    return sorted(
        {
            (at, part_of[target])
            for source, at in part_of.items()
            for target in behind[source]
            if part_of.get(target, at) > at
        }
    )
