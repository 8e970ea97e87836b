"""Module views: collapsed modules as if they were layers, their figures summed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dashboard.figures.precision_map import SEVERAL
from dashboard.figures.unfold import Nest, Shown
from dashboard.layer_views import LayerView


def shown_views(views: Sequence[LayerView], shown: Shown, nest: Nest) -> tuple[LayerView, ...]:
    """One view per cell of a map: layers as they are, collapsed modules with what their layers sum up to."""
    by_id = {view.id: view for view in views}
    collapsed = [module_view(cell, path, nest, by_id) for cell, path in shown.modules.items()]
    single = [view for view in views if shown.cell_of.get(view.id) == view.id]
    return tuple(sorted((*single, *collapsed), key=lambda view: view.index))


def module_view(cell: str, path: str, nest: Nest, by_id: Mapping[str, LayerView]) -> LayerView:
    """A module as one cell.

    Times, shares, MACs, bytes and weights are sums over the layers of which they are known; None if of none.
    What is reached of the attainable is the mean over the time, and intensity that of the sums.
    """
    held = [by_id[layer] for layer in nest.layers[path]]
    timed = [view for view in held if view.attained is not None and view.ms]
    time_ms = sum(view.ms or 0.0 for view in timed)
    return LayerView(
        id=cell,
        index=held[0].index,
        op=f"{len(held)} layers, summed",
        group=cell,
        group_kind="module",
        module=tuple(part for part in path.split("/") if part)[:-1],
        input_shapes=(),
        output_shapes=(),
        parameters=sum(view.parameters for view in held),
        weight_bytes=sum(view.weight_bytes for view in held),
        macs=_sum(held, lambda view: view.macs),
        ms=_sum(held, lambda view: view.ms),
        share=_sum(held, lambda view: view.share),
        moved_bytes=_sum(held, lambda view: view.moved_bytes),
        precision=_precision(held),
        attained=sum((view.attained or 0.0) * (view.ms or 0.0) for view in timed) / time_ms if time_ms else None,
    )


def _sum(held: Iterable[LayerView], of: Callable[[LayerView], float | None]) -> float | None:
    known = [value for view in held if (value := of(view)) is not None]
    return sum(known) if known else None


def _precision(held: Sequence[LayerView]) -> str | None:
    found = {view.precision for view in held if view.precision is not None}
    return found.pop() if len(found) == 1 else SEVERAL if found else None
