"""Diagnosis: why a candidate is not faster, from what was measured - each sentence carries its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.report import quantities
from core.report.asked import asked_and_got, tried
from dashboard.layer_views import LayerView

__all__ = ["asked_and_got", "reasons", "tried"]

_MOST_LAYERS = 3
#: A layer counts as slower when it takes this much longer than before, and at least so much of the run.
_SLOWER = 1.1
_TELLING_SHARE = 0.01
_CONVERSIONS_SHARE = 0.03


def reasons(
    document: Mapping[str, Any], before: Sequence[LayerView], after: Sequence[LayerView] | None
) -> tuple[str, ...]:
    """What explains that there is no gain, the most telling first; empty where nothing was found.

    Args:
        document: a candidate's `build` or `optimize` document.
        before: the layers with the times of the original.
        after: the layers with the times of the candidate; None: it was not profiled.
    """
    found = [str(document["why"])] if document.get("unchanged") and document.get("why") else []
    found += _executed(document.get("layers") or ())
    found += _conversions(document)
    found += _slower_layers(before, after or ())
    return tuple(found)


def _executed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    asked = [row for row in rows if row["requested"] != "fp32"]
    if not asked:
        return ["Nothing was lowered, so there is nothing that could be faster."] if rows else []
    missed = [row for row in asked if row["executed"] not in (row["requested"], "folded")]
    if not missed:
        return []
    why: dict[str, int] = {}
    for row in missed:
        why[row.get("why") or "no reason given"] = why.get(row.get("why") or "no reason given", 0) + 1
    commonest = max(why, key=lambda reason: why[reason])
    return [f"{len(missed)} of {len(asked)} layers do not run as asked; most often: {commonest}."]


def _conversions(document: Mapping[str, Any]) -> list[str]:
    conversions = document.get("conversions") or {}
    ms, count = conversions.get("ms"), conversions.get("count")
    whole = (document.get("profile") or {}).get("kernel_ms")
    if not ms or not count or not whole or ms / whole < _CONVERSIONS_SHARE:
        return []
    cost = f"{quantities.time_ms(ms)} of {quantities.time_ms(whole)} ({quantities.share(ms / whole)})"
    remedy = "lower neighbouring layers together, or leave the lonely ones in fp32"
    return [f"{count} conversions between precisions take {cost}: {remedy}."]


def _slower_layers(before: Sequence[LayerView], after: Sequence[LayerView]) -> list[str]:
    then = {view.id: view for view in before}
    slower = []
    for now in after:
        old = then.get(now.id)
        if old is None or not old.ms or not now.ms or (now.share or 0.0) < _TELLING_SHARE:
            continue
        if now.ms > _SLOWER * old.ms:
            slower.append((now.ms - old.ms, old, now))
    if not slower:
        return []
    worst = sorted(slower, key=lambda entry: -entry[0])[:_MOST_LAYERS]
    told = "; ".join(
        f"{now.id} ({now.op}) {quantities.time_ms(old.ms)} → {quantities.time_ms(now.ms)}" for _, old, now in worst
    )
    return [f"{len(slower)} layers became slower, above all {told}."]
