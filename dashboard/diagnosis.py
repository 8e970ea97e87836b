"""Diagnosis: why a candidate is not faster, from what was measured - each sentence carries its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from core.measure.target import parse_target
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
    found += _missed(document)
    found += _executed(document.get("layers") or (), kept_original=bool(document.get("unchanged")))
    found += _conversions(document)
    found += _slower_layers(before, after or ())
    return tuple(found)


def _missed(document: Mapping[str, Any]) -> list[str]:
    """What the best mix came to on the holdout where it missed the target, and what to ask for instead."""
    compared = document.get("tried") if document.get("unchanged") else None
    if not compared:
        return []
    found = []
    for judged in (document.get("target") or {}).get("each") or ():
        metric, required = judged.get("metric"), judged.get("required")
        value = _reached(compared, metric)
        if value is None or required is None or value >= required:
            continue
        reached = f"{_text(metric, value, required)} on the holdout, where {_text(metric, required, value)} is needed"
        found.append(f"The best mix gave {metric} {reached}. {_advice(str(judged['text']), compared, value)}")
    return found


def _reached(compared: Mapping[str, Any], metric: str | None) -> float | None:
    fidelity, accuracy = compared.get("fidelity") or {}, compared.get("accuracy") or {}
    reached = {
        "sqnr": fidelity.get("sqnr_db"),
        "agreement": fidelity.get("agreement"),
        "accuracy": accuracy.get("after"),
    }
    return None if metric is None else reached.get(metric)


def _text(metric: str, value: float, other: float) -> str:
    """In dB or percent, with so many digits that the two differ."""
    factor, unit = (1.0, "dB") if metric == "sqnr" else (100.0, "%")
    places = (places for places in range(1, 9) if round(value * factor, places) != round(other * factor, places))
    return f"{value * factor:.{next(places, 9)}f} {unit}"


def _advice(text: str, compared: Mapping[str, Any], value: float) -> str:
    """A little more, so that the search leaves room; or as much as this mix keeps."""
    (condition,) = parse_target(text).conditions
    if condition.relative:
        before = (compared.get("accuracy") or {}).get("before")
        value = value / before if before else value
    limit, metric = condition.limit, condition.metric
    if metric == "sqnr":
        more, less = math.ceil(2 * (limit + max(0.5, 2 * (limit - value)))) / 2, math.ceil(2 * value) / 2 - 0.5
        higher, lower = f"sqnr>={more:g}", f"sqnr>={max(less, 0):g}"
    elif metric == "accuracy" and not condition.relative:  # a percentage would be of the original's
        higher, lower = f"accuracy>={(1 + limit) / 2:.4g}", f"accuracy>={max(math.ceil(200 * value) - 1, 0) / 200:g}"
    else:
        more, less = 50 * (1 + limit), math.ceil(200 * value) / 2 - 0.5
        higher, lower = f"{metric}>={more:.6g}%", f"{metric}>={max(less, 0):g}%"
    room = f"{higher}, so that the search leaves room, or for " if metric == "sqnr" or limit < 1 else ""
    return f"Ask for {room}{lower}, if that is enough; with more evaluation samples the search is less often wrong."


def _executed(rows: Sequence[Mapping[str, Any]], *, kept_original: bool) -> list[str]:
    asked = [row for row in rows if row["requested"] != "fp32"]
    if not asked:
        told = ["Nothing was lowered, so there is nothing that could be faster."]
        return told if rows and not kept_original else []
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
