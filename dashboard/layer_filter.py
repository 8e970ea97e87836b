"""Layer filter: which layers of a profile a person asked for, by words and by kind, and what they add up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.report import quantities
from dashboard.layer_views import LayerView

#: What a choice calls a layer that has no figure of that sort.
NONE = "not known"


@dataclass(frozen=True, slots=True)
class LayerFilter:
    """What is asked for; empty: everything. All words must be found in a layer's id, operator or module."""

    words: str = ""
    ops: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.words.split() or self.ops or self.limits or self.precisions)


def matching(views: Sequence[LayerView], asked: LayerFilter) -> tuple[LayerView, ...]:
    """The layers that were asked for, in the order they came."""
    words = asked.words.lower().split()
    return tuple(view for view in views if _matches(view, asked, words))


def choices(views: Sequence[LayerView], of: Callable[[LayerView], str | None]) -> list[str]:
    """What can be chosen, most layers first."""
    counts: dict[str, int] = {}
    for view in views:
        name = of(view) or NONE
        counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda name: (name == NONE, -counts[name], name))


def added_up(shown: Sequence[LayerView], of: int) -> str:
    """What is shown in one line: "37 of 412 layers, 4.20 ms, 38.0 %"."""
    head = f"{len(shown)} of {quantities.counted(of, 'layer')}" if len(shown) != of else quantities.counted(of, "layer")
    times = [view.ms for view in shown if view.ms is not None]
    shares = [view.share for view in shown if view.share is not None]
    if not times:
        return f"{head}, time not known" if shown else head
    return f"{head}, {quantities.time_ms(sum(times))}, {quantities.share(sum(shares))} of the kernel time"


def place_told(shown: Sequence[LayerView], layer: str | None) -> str:
    """Where the chosen layer stands in the table, the slowest first: "stem/conv: 1.84 ms, place 3 of 37"."""
    view = next((view for view in shown if view.id == layer), None)
    if view is None:
        return "" if layer is None else f"The chosen layer {layer} is not among them."
    if view.ms is None:
        return f"{view.id}: time not known"
    slower = sum(1 for other in shown if (other.ms or 0.0) > view.ms)
    return f"{view.id}: {quantities.time_ms(view.ms)}, place {slower + 1} of {len(shown)}"


def _matches(view: LayerView, asked: LayerFilter, words: Sequence[str]) -> bool:
    if asked.ops and view.op not in asked.ops:
        return False
    if asked.limits and (view.limited_by or NONE) not in asked.limits:
        return False
    if asked.precisions and (view.precision or NONE) not in asked.precisions:
        return False
    if not words:
        return True
    text = f"{view.id} {view.op} {'/'.join(view.module)}".lower()
    return all(word in text for word in words)
