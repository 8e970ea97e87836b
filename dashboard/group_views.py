"""Group views: each group of layers with its share of the time, the precision decided for it and the reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.graph.layer import Group, LayerTable
from core.recipe.plan import Decision, Plan
from core.recipe.precision import Precision
from core.report.layer_csv import rows_csv
from dashboard.layer_views import LayerView


@dataclass(frozen=True, slots=True)
class GroupView:
    """One channel of the desk.

    `ops` are its operators in graph order, `op` is that of the anchor. `ms` and `share` (0..1) add up its layers; None
    where none was measured. `asked` is what the rules ask, `precision` what is decided; `built` is what the last
    candidate was built with, None where there is no candidate. `solo_db` is the SQNR of the outputs with only this
    group in int8, None where no search measured it.
    """

    id: str
    kind: str
    op: str
    ops: tuple[str, ...]
    layers: tuple[str, ...]
    index: int
    ms: float | None
    share: float | None
    asked: Precision
    precision: Precision
    why: str
    pinned: bool
    built: str | None
    solo_db: float | None = None

    @property
    def refused(self) -> bool:
        """Whether the rules ask for something that will not be built."""
        return self.asked is not self.precision

    @property
    def changed(self) -> bool:
        """Whether it differs from the last candidate."""
        return self.built is not None and self.built != str(self.precision)


def groups_csv(views: Sequence[GroupView]) -> str:
    """The plan on the desk as CSV: one row per group, full names, plain numbers, nothing rounded."""
    header = ("group", "ops", "layers", "asked", "precision", "pinned", "built", "time_ms", "share", "alone_db", "why")
    return rows_csv(
        header,
        (
            (
                *(view.id, " + ".join(view.ops), len(view.layers), str(view.asked), str(view.precision), view.pinned),
                *(view.built, view.ms, view.share, view.solo_db, view.why),
            )
            for view in views
        ),
    )


def group_views(
    table: LayerTable,
    views: Sequence[LayerView],
    plan: Plan,
    *,
    pins: Mapping[str, Precision],
    built: Mapping[str, str] | None = None,
    solo_db: Mapping[str, float] | None = None,
) -> tuple[GroupView, ...]:
    """All groups in graph order.

    Args:
        table: the structure.
        views: the layers with their figures.
        plan: what was decided for each layer.
        pins: the groups whose precision is held.
        built: group -> precision of the candidate to compare with.
        solo_db: group -> SQNR with only this group in int8.
    """
    figures = {view.id: view for view in views}
    decided = {decision.group: decision for decision in plan.decisions}
    found = []
    for group in table.groups:
        op = table.layer(group.anchor).op_type
        members = [figures[layer] for layer in group.layers]
        before = None if built is None else built.get(group.id)
        view = _view(group, op, members, decided[group.id], pinned=group.id in pins, built=before)
        found.append(replace(view, solo_db=(solo_db or {}).get(group.id)))
    return tuple(sorted(found, key=lambda view: view.index))


def built_with(plan: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Group -> precision of a plan's JSON; None where there is no plan."""
    rows = (plan or {}).get("layers") or ()
    return {row["group"]: row["precision"] for row in rows} or None


def solo_scores(reports: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Group -> SQNR in dB with only this group in int8, from the newest document that has any."""
    for report in reports:
        rows = report.get("sensitivity") or ()
        found = {row["group"]: float(row["sqnr_db"]) for row in rows if row.get("sqnr_db") is not None}
        if found:
            return found
    return {}


def _view(
    group: Group, op: str, members: Sequence[LayerView], decision: Decision, *, pinned: bool, built: str | None
) -> GroupView:
    times = [view.ms for view in members if view.ms is not None]
    shares = [view.share for view in members if view.share is not None]
    return GroupView(
        id=group.id,
        kind=group.kind,
        op=op,
        ops=tuple(view.op for view in members),
        layers=group.layers,
        index=min(view.index for view in members),
        ms=sum(times) if times else None,
        share=sum(shares) if shares else None,
        asked=decision.requested,
        precision=decision.precision,
        why=decision.why,
        pinned=pinned,
        built=built,
    )
