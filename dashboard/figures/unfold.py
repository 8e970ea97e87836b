"""Unfold: the graph with some modules collapsed, put together from the layouts that the job made of each module.

A module that is open gives way to what stands directly inside it: the columns right of it move on, and what it holds
stays together. Nothing is laid out anew, so opening one module of ten thousand layers takes milliseconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: Before the path of a collapsed module in the id of its cell; no layer has such an id.
MODULE = "\u25a3 "

Part = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Nest:
    """The modules of a model by path ("" is the whole), their parents, and the layers that each holds in all."""

    modules: Mapping[str, Mapping[str, Any]]
    parent: Mapping[str, str]
    layers: Mapping[str, tuple[str, ...]]
    home: Mapping[str, str]

    def level(self, path: str) -> int:
        """How many modules are around it; 0 for the whole model."""
        return sum(1 for _ in self.around(path))

    def around(self, path: str) -> Iterator[str]:
        """The modules around a module, the nearest first."""
        while path:
            path = self.parent[path]
            yield path

    def named(self, path: str) -> str:
        """What it is called where others stand beside it."""
        return str(self.modules[path]["name"])


@dataclass(frozen=True, slots=True)
class Shown:
    """What a map shows: a layout as `inspect` has it whose "layers" are layers and collapsed modules.

    `modules` are the collapsed ones: id of the cell -> path. `cell_of` tells in which cell each layer is.
    """

    layout: Mapping[str, Any]
    modules: Mapping[str, str]
    cell_of: Mapping[str, str]


def read_nest(inspection: Mapping[str, Any]) -> Nest | None:
    """The modules of an `inspect` document; None in documents of older versions, and where there is nothing to open."""
    rows = (inspection.get("folded") or {}).get("modules") or ()
    modules = {row["path"]: row for row in rows}
    if len(modules) < 2 or "" not in modules:
        return None
    parent = {part["module"]: path for path, row in modules.items() for part in row["inside"] if part["module"]}
    home = {part["layer"]: path for path, row in modules.items() for part in row["inside"] if part["layer"]}
    layers: dict[str, list[str]] = {path: [] for path in modules}
    for row in inspection["layers"]:
        path = home[row["id"]]
        layers[path].append(row["id"])
        while path:
            path = parent[path]
            layers[path].append(row["id"])
    return Nest(modules, parent, {path: tuple(held) for path, held in layers.items()}, home)


def opened_to(nest: Nest, level: int) -> frozenset[str]:
    """All modules that are open where everything down to this level is: at 0 only the whole model."""
    return frozenset(path for path in nest.modules if nest.level(path) <= level)


def unfold(nest: Nest, edges: Sequence[Sequence[str]], opened: Collection[str]) -> Shown:
    """The graph with these modules open and all others collapsed; inside a collapsed module none is open.

    Args:
        nest: the modules.
        edges: pairs of layer ids: who feeds whom.
        opened: paths of open modules; the whole model always is.
    """
    cells: list[dict[str, Any]] = []
    modules: dict[str, str] = {}
    cell_of: dict[str, str] = {}
    for part, x, y in _placed(nest, "", opened):
        path = part["module"]
        cell = part["layer"] if path is None else f"{MODULE}{path}"
        if path is not None:
            modules[cell] = path
        for layer in (cell,) if path is None else nest.layers[path]:
            cell_of[layer] = cell
        cells.append({"layer": cell, "x": x, "y": y})
    links = {(cell_of[source], cell_of[target]): None for source, target in edges}
    between = [list(link) for link in links if link[0] != link[1]]
    return Shown({"nodes": cells, "edges": between}, modules, cell_of)


def count_cells(nest: Nest, opened: Collection[str]) -> int:
    """How many cells a map with these modules open has."""
    visible = {path for path in opened if all(not upper or upper in opened for upper in nest.around(path))} | {""}
    return sum(len(nest.modules[path]["inside"]) for path in visible) - (len(visible) - 1)


def _placed(nest: Nest, path: str, opened: Collection[str]) -> list[tuple[Part, float, float]]:
    """Everything visible inside a module with its place there; columns are as wide as what stands in them."""
    parts = nest.modules[path]["inside"]
    held = [_placed(nest, part["module"], opened) if part["module"] in opened else [(part, 0.0, 0.0)] for part in parts]
    widths: dict[float, float] = defaultdict(float)
    for part, inner in zip(parts, held, strict=True):
        widths[part["x"]] = max(widths[part["x"]], max(x for _, x, _ in inner) + 1.0)
    starts, start = {}, 0.0
    for column in sorted(widths):
        starts[column] = start
        start += widths[column]
    found = []
    for part, inner in zip(parts, held, strict=True):
        height = max(y for _, _, y in inner) + 1.0
        found += [(shown, starts[part["x"]] + x, part["y"] + y / height) for shown, x, y in inner]
    return found
