"""Areas: modules inside modules with layers as leaves, each as large as its figure; for treemap and icicle.

Ids begin with "m:" (module), "l:" (layer) or "r:" (the smallest layers below a module, as one), so that a click can be
read back. A browser draws many thousand areas slowly: of so many layers only the largest are leaves of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard.figures.heat_map import hover_text
from dashboard.figures.labels import plain, short_plain
from dashboard.figures.theme import FigureTheme, heat_color, ink_on
from dashboard.layer_views import LayerView, Measure

MODULE, LAYER, REST = "m:", "l:", "r:"
#: The whole.
ROOT = MODULE
MOST_LEAVES = 1500
_NAME_LENGTH = 40
_PARTS = re.compile(r"[/.]")

Path = tuple[str, ...]


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
    views: Sequence[LayerView], measure: Measure, theme: FigureTheme, *, title: str, most: int = MOST_LEAVES
) -> list[Area]:
    """All areas in graph order, the whole first; layers without the figure, or with 0, have none.

    Args:
        views: the layers with their figures.
        measure: what areas and colours tell.
        theme: light or dark.
        title: the name of the whole.
        most: how many layers are areas of their own; smaller ones are one area per module.
    """
    known = _without_lone_modules([view for view in views if (measure.of(view) or 0) > 0])
    largest = sorted(known, key=lambda view: -_value(view, measure))[:most]
    kept = {view.id for view in largest}
    leaves = [view for view in known if view.id in kept]
    rest = _rests([view for view in known if view.id not in kept], leaves)
    modules = _module_areas(leaves, rest, measure, theme, title)
    return modules + _layer_areas(leaves, measure, theme) + _rest_areas(rest, measure, theme)


def layer_of_area(area: str | None) -> str | None:
    """The layer of a clicked area; None for a module or for many layers at once."""
    return area[len(LAYER) :] if area is not None and area.startswith(LAYER) else None


def area_of(layer: LayerView, ids: Sequence[str]) -> str | None:
    """The area that shows a layer: its own, else the one that it is a small part of; None where it has none."""
    present = set(ids)
    if f"{LAYER}{layer.id}" in present:
        return f"{LAYER}{layer.id}"
    ancestors = [layer.module[:depth] for depth in range(len(layer.module), -1, -1)]
    return next((found for path in ancestors if (found := f"{REST}{'/'.join(path)}") in present), None)


def module_id(path: Sequence[str]) -> str:
    """The id of a module's area."""
    return f"{MODULE}{'/'.join(path)}"


def module_of(path: Sequence[str], ids: Sequence[str]) -> str | None:
    """The area of a module, or of the nearest one around it; None where that is the whole."""
    present = set(ids)
    around = (module_id(path[:depth]) for depth in range(len(path), 0, -1))
    return next((found for found in around if found in present), None)


def _without_lone_modules(views: Sequence[LayerView]) -> list[LayerView]:
    """Layers that are alone in their module stand in the one around it: a frame around one area tells nothing."""
    count = Counter(view.module[:depth] for view in views for depth in range(len(view.module) + 1))
    return [replace(view, module=_crowded(view.module, count)) for view in views]


def _crowded(module: Path, count: Mapping[Path, int]) -> Path:
    depth = len(module)
    while depth and count[module[:depth]] == 1:
        depth -= 1
    return module[:depth]


def _name(view: LayerView) -> str:
    """The layer's name without the path of the module it stands in: "expand" of "blocks.1.expand"."""
    parts = _PARTS.split(view.id.strip("/"))
    own = _PARTS.split(".".join(view.module)) if view.module else []
    if len(parts) > len(own) and parts[: len(own)] == own:
        parts = parts[len(own) :]
    if len(parts) > 1 and parts[-1] == view.op:
        parts = parts[:-1]
    return "/".join(parts)


def _value(view: LayerView, measure: Measure) -> float:
    return float(measure.of(view) or 0)


def _rests(small: Sequence[LayerView], leaves: Sequence[LayerView]) -> dict[Path, list[LayerView]]:
    """Small layers by the deepest module around them that holds a leaf, too."""
    shown = {view.module[:depth] for view in leaves for depth in range(len(view.module) + 1)} | {()}
    found: dict[Path, list[LayerView]] = {}
    for view in small:
        path = next(view.module[:depth] for depth in range(len(view.module), -1, -1) if view.module[:depth] in shown)
        found.setdefault(path, []).append(view)
    return found


def _module_areas(
    leaves: Sequence[LayerView],
    rest: dict[Path, list[LayerView]],
    measure: Measure,
    theme: FigureTheme,
    title: str,
) -> list[Area]:
    totals: dict[Path, float] = {(): 0.0}
    parts = [(view.module, _value(view, measure)) for view in leaves]
    parts += [(path, sum(_value(view, measure) for view in group)) for path, group in rest.items()]
    for module, value in parts:
        for depth in range(len(module) + 1):
            totals[module[:depth]] = totals.get(module[:depth], 0.0) + value
    found = []
    for path, value in totals.items():
        parent = module_id(path[:-1]) if path else ""
        label = short_plain(path[-1] if path else title, _NAME_LENGTH)
        hover = f"<b>{plain('/'.join(path) or title)}</b><br>{measure.label} {measure.write(value)}"
        found.append(Area(module_id(path), parent, label, value, theme.surface, theme.text, hover))
    return found


def _layer_areas(leaves: Sequence[LayerView], measure: Measure, theme: FigureTheme) -> list[Area]:
    top = max((_value(view, measure) for view in leaves), default=0.0) or 1.0
    found = []
    for view in leaves:
        value = _value(view, measure)
        label = short_plain(_name(view), _NAME_LENGTH)
        color = heat_color(theme.heat, value / top)
        hover = hover_text(view, measure)
        found.append(Area(f"{LAYER}{view.id}", module_id(view.module), label, value, color, ink_on(color), hover))
    return found


def _rest_areas(rest: dict[Path, list[LayerView]], measure: Measure, theme: FigureTheme) -> list[Area]:
    found = []
    for path, group in rest.items():
        value = sum(_value(view, measure) for view in group)
        label = f"{len(group)} small layers" if len(group) > 1 else "1 small layer"
        hover = f"<b>{label}</b> of {plain('/'.join(path) or 'the model')}<br>{measure.label} {measure.write(value)}"
        identity = f"{REST}{'/'.join(path)}"
        found.append(Area(identity, module_id(path), label, value, theme.missing, theme.text, hover))
    return found
