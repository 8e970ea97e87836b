"""Map views: which modules of a map are open, and how that changes; decided without drawing anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dashboard.figures.unfold import Nest, Shown, count_cells, opened_to
from dashboard.kept import kept

#: Up to so many layers a map starts with all of them; of more, with at most so many cells.
ALL_AT_ONCE, MOST_CELLS = 400, 250
_MOST_LEVELS = 8


@dataclass(frozen=True, slots=True)
class MapView:
    """What of the graph a map shows: the open modules (None: as many as it has room for), and where it is zoomed to.

    `last` is the module that was opened last, `near` the layer whose neighbourhood is shown alone.
    """

    opened: frozenset[str] | None = None
    last: str | None = None
    near: str | None = None


@dataclass(frozen=True, slots=True)
class Detail:
    """A choice of detail: how many cells it shows, and the modules that are open."""

    label: str
    opened: frozenset[str]


@kept
def details(nest: Nest) -> list[Detail]:
    """The choices from few cells to all layers; levels that open nothing more are left out."""
    found: list[Detail] = []
    deepest = max(map(nest.level, nest.modules))
    for level in range(min(deepest, _MOST_LEVELS)):
        opened = opened_to(nest, level)
        if not found or count_cells(nest, found[-1].opened) < count_cells(nest, opened):
            found.append(Detail(f"Level {level + 1}: {count_cells(nest, opened):,} cells", opened))
    found.append(Detail(f"All {len(nest.layers['']):,} layers", frozenset(nest.modules)))
    return found


def default_opened(nest: Nest) -> frozenset[str]:
    """Everything where a map has room for it; else as deep as leaves at most `MOST_CELLS` cells."""
    choices = details(nest)
    if len(nest.layers[""]) <= ALL_AT_ONCE:
        return choices[-1].opened
    fitting = [choice for choice in choices if count_cells(nest, choice.opened) <= MOST_CELLS]
    return (fitting or choices)[-1 if fitting else 0].opened


def opening(nest: Nest, view: MapView, path: str) -> MapView:
    """With one more module open."""
    opened = default_opened(nest) if view.opened is None else view.opened
    return replace(view, opened=opened | {path}, last=path, near=None)


def closed(nest: Nest, view: MapView, path: str) -> MapView:
    """With one module less, and whatever is in it."""
    opened = default_opened(nest) if view.opened is None else view.opened
    left = frozenset(other for other in opened if other != path and path not in nest.around(other))
    upper = nest.parent.get(path) or None
    return replace(view, opened=left, last=upper, near=None)


def to_open(shown: Shown, layer: str | None) -> str | None:
    """The collapsed module that a layer is in."""
    return None if layer is None else shown.modules.get(shown.cell_of.get(layer, ""))


def to_close(nest: Nest, shown: Shown, layer: str | None, last: str | None) -> str | None:
    """The innermost open module around a layer, else the one opened last; None where only the model is open."""
    if layer is None:
        return last
    collapsed = to_open(shown, layer)
    path = nest.home[layer] if collapsed is None else nest.parent[collapsed]
    return path or None


def shown_alone(layout: Mapping[str, Any]) -> Shown:
    """A layout with every layer in a cell of its own."""
    return Shown(layout, {}, {node["layer"]: node["layer"] for node in layout["nodes"]})
