"""Areas: modules inside modules with layers as leaves, each as large as its figure; for treemap and icicle.

Ids begin with "m:" (an open module), "c:" (a closed one, for which there was no room), "l:" (layer) or "r:" (the small
parts of a module, as one), so that a click can be read back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.report import quantities
from dashboard.figures.area_tree import Branch, Opened, Path, area_tree, opened
from dashboard.figures.heat_map import hover_text
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import FigureTheme, heat_color, ink_on
from dashboard.layer_views import LayerView, Measure

MODULE, CLOSED, LAYER, REST = "m:", "c:", "l:", "r:"
#: The whole.
ROOT = MODULE
#: So many areas a browser draws in about half a second.
MOST_AREAS = 800
_NAME_LENGTH = 40
_PARTS = re.compile(r"[/.]")


@dataclass(frozen=True, slots=True)
class Area:
    """One area: its id and that of the one around it, what stands in it, its figure and how it looks."""

    id: str
    parent: str
    label: str
    value: float
    color: str
    ink: str
    hover: str


def areas(
    views: Sequence[LayerView],
    measure: Measure,
    theme: FigureTheme,
    *,
    title: str,
    inside: Sequence[str] = (),
    most: int = MOST_AREAS,
) -> list[Area]:
    """All areas, the whole first; layers without the figure, or with 0, have none.

    Args:
        views: the layers with their figures, in graph order.
        measure: what areas and colours tell.
        theme: light or dark.
        title: the name of the whole.
        inside: the module that is looked at, which is shown in more detail than the others.
        most: how many areas; where there are more parts, small modules stay closed and small layers are one area.
    """
    tree = area_tree(views, measure)
    shown = opened(tree, most=most, inside=tuple(inside))
    closed = [path for part in shown.values() for path in part.modules if path not in shown]
    leaves = [(view, value, path) for path, part in shown.items() for view, value in part.layers]
    leaves.sort(key=lambda leaf: leaf[0].index)
    top = max([*(tree[path].value for path in closed), *(value for _, value, _ in leaves)], default=0.0) or 1.0
    found = [
        _module_area(path, tree[path], measure, theme, title)
        if path in shown
        else _closed_area(path, tree[path], top, measure, theme)
        for path in tree
        if path in shown or (path[:-1] in shown and path in shown[path[:-1]].modules)
    ]
    found += [_layer_area(view, path, top, measure, theme) for view, _, path in leaves]
    return found + [_rest_area(path, part, measure, theme) for path, part in shown.items() if part.rest_count]


def layer_of_area(area: str | None) -> str | None:
    """The layer of a clicked area; None for a module or for many layers at once."""
    return area[len(LAYER) :] if area is not None and area.startswith(LAYER) else None


def module_of_area(area: str | None) -> Path | None:
    """The module whose parts a clicked area stands for; None for one that shows all it has."""
    if area is None or not area.startswith((CLOSED, REST)):
        return None
    return tuple(filter(None, area[len(CLOSED) :].split("/")))


def area_of(layer: LayerView, ids: Sequence[str]) -> str | None:
    """The area that shows a layer: its own, else the one that it is a part of; None where it has none."""
    present = set(ids)
    if f"{LAYER}{layer.id}" in present:
        return f"{LAYER}{layer.id}"
    ancestors = ["/".join(layer.module[:depth]) for depth in range(len(layer.module), -1, -1)]
    around = (f"{kind}{path}" for path in ancestors for kind in (CLOSED, REST))
    return next((found for found in around if found in present), None)


def module_id(path: Sequence[str]) -> str:
    """The id of a module's area."""
    return f"{MODULE}{'/'.join(path)}"


def module_of(path: Sequence[str], ids: Sequence[str]) -> str | None:
    """The area of a module, or of the nearest one around it; None where that is the whole."""
    present = set(ids)
    around = (module_id(path[:depth]) for depth in range(len(path), 0, -1))
    return next((found for found in around if found in present), None)


def _name(view: LayerView, module: Path) -> str:
    """The layer's name without the path of the module it stands in: "expand" of "blocks.1.expand"."""
    parts = _PARTS.split(view.id.strip("/"))
    own = _PARTS.split(".".join(module)) if module else []
    if len(parts) > len(own) and parts[: len(own)] == own:
        parts = parts[len(own) :]
    if len(parts) > 1 and parts[-1] == view.op:
        parts = parts[:-1]
    return "/".join(parts)


def _module_area(path: Path, branch: Branch, measure: Measure, theme: FigureTheme, title: str) -> Area:
    parent = module_id(path[:-1]) if path else ""
    label = short_plain(path[-1] if path else title, _NAME_LENGTH)
    hover = f"<b>{plain('/'.join(path) or title)}</b><br>{measure.label} {measure.write(branch.value)}"
    return Area(module_id(path), parent, label, branch.value, theme.surface, theme.text, hover)


def _closed_area(path: Path, branch: Branch, top: float, measure: Measure, theme: FigureTheme) -> Area:
    hover = (
        f"<b>{plain('/'.join(path))}</b><br>{measure.label} {measure.write(branch.value)}<br>"
        f"{quantities.counted(branch.count, 'layer')}, a click shows them"
    )
    color = heat_color(theme.heat, branch.value / top)
    identity, label = f"{CLOSED}{'/'.join(path)}", short_plain(path[-1], _NAME_LENGTH)
    return Area(identity, module_id(path[:-1]), label, branch.value, color, ink_on(color), hover)


def _layer_area(view: LayerView, path: Path, top: float, measure: Measure, theme: FigureTheme) -> Area:
    value = float(measure.of(view) or 0)
    label = short_plain(_name(view, path), _NAME_LENGTH)
    color = heat_color(theme.heat, value / top)
    hover = hover_text(view, measure)
    return Area(f"{LAYER}{view.id}", module_id(path), label, value, color, ink_on(color), hover)


def _rest_area(path: Path, part: Opened, measure: Measure, theme: FigureTheme) -> Area:
    label = quantities.counted(part.rest_count, "small layer")
    told = f"{measure.label} {measure.write(part.rest_value)}"
    hover = f"<b>{label}</b> of {plain('/'.join(path) or 'the model')}<br>{told}"
    identity = f"{REST}{'/'.join(path)}"
    return Area(identity, module_id(path), label, part.rest_value, theme.missing, theme.text, hover)
