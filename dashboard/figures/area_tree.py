"""Area tree: modules inside modules with their layers, and how much of it is shown where not everything has room.

A browser draws many thousand areas slowly, and most of them would be specks. So modules are opened one after the other,
the largest first, until there are as many areas as there may be: the others stay closed, one area each.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.layer_views import LayerView, Measure

Path = tuple[str, ...]


@dataclass(slots=True)
class Branch:
    """A module: what it holds by name, what that adds up to, and how many layers it is."""

    modules: list[Path] = field(default_factory=list)
    layers: list[tuple[LayerView, float]] = field(default_factory=list)
    value: float = 0.0
    count: int = 0


@dataclass(slots=True)
class Opened:
    """What of an open module is shown: its modules and layers in graph order, and what all its small parts are."""

    modules: list[Path]
    layers: list[tuple[LayerView, float]]
    rest_value: float = 0.0
    rest_count: int = 0


def area_tree(views: Sequence[LayerView], measure: Measure) -> dict[Path, Branch]:
    """Module path -> what is in it, in graph order, the whole first; layers without the figure, or with 0, are out.

    Layers that are alone in their module stand in the one around it: a frame around one area tells nothing.
    """
    known = [(view, value) for view in views if (value := float(measure.of(view) or 0)) > 0]
    count = Counter(view.module[:depth] for view, _ in known for depth in range(len(view.module) + 1))
    tree: dict[Path, Branch] = {(): Branch()}
    for view, value in known:
        path = crowded(view.module, count)
        for depth in range(len(path) + 1):
            here = path[:depth]
            if here not in tree:
                tree[here] = Branch()
                tree[here[:-1]].modules.append(here)
            tree[here].value += value
            tree[here].count += 1
        tree[path].layers.append((view, value))
    return tree


def crowded(module: Path, count: Mapping[Path, int]) -> Path:
    """The nearest module around a layer that holds others, too."""
    depth = len(module)
    while depth and count[module[:depth]] == 1:
        depth -= 1
    return module[:depth]


def opened(tree: Mapping[Path, Branch], *, most: int, inside: Path = ()) -> dict[Path, Opened]:
    """The open modules, opened from the largest to the smallest until there are `most` areas.

    Args:
        tree: of a model.
        most: areas in all; a module that has more parts than are left shows its largest, and the others as one.
        inside: the module that is looked at: it and what is in it comes first.
    """
    found: dict[Path, Opened] = {}
    room = most - 1
    waiting: list[tuple[bool, float, Path]] = [(False, 0.0, ())]
    while waiting:
        _, _, path = heapq.heappop(waiting)
        shown = _parts(tree, path, room, inside)
        parts = len(shown.modules) + len(shown.layers)
        if path and not parts:
            break
        found[path] = shown
        room -= parts + (shown.rest_count > 0)
        for module in shown.modules:
            apart = module[: len(inside)] != inside[: len(module)]
            heapq.heappush(waiting, (apart, -tree[module].value, module))
    return found


def _parts(tree: Mapping[Path, Branch], path: Path, room: int, inside: Path) -> Opened:
    """The parts of a module that have room; of many the largest, and whatever leads to the module looked at."""
    branch = tree[path]
    if len(branch.modules) + len(branch.layers) <= room:
        return Opened(branch.modules, branch.layers)
    if branch.modules:
        room //= 2  # the other half is for what is in them
    wanted = inside[: len(path) + 1]
    sizes: list[tuple[bool, float, Path | str]] = [
        (module == wanted, tree[module].value, module) for module in branch.modules
    ]
    sizes += [(False, value, view.id) for view, value in branch.layers]
    sizes.sort(key=lambda part: part[:2], reverse=True)
    kept = {key for *_, key in sizes[: max(0, room - 1)]}
    modules = [module for module in branch.modules if module in kept]
    layers = [(view, value) for view, value in branch.layers if view.id in kept]
    shown_value = sum(tree[module].value for module in modules) + sum(value for _, value in layers)
    shown_count = sum(tree[module].count for module in modules) + len(layers)
    return Opened(modules, layers, max(0.0, branch.value - shown_value), branch.count - shown_count)
