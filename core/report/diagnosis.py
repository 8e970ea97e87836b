"""Diagnosis: why a candidate is not faster, from what was measured - each sentence carries its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.measure.target import parse_target
from core.report import quantities
from core.report.asked import as_asked, tried
from core.report.names import shorten
from core.report.tiles import latency

Document = Mapping[str, Any]

_NOTHING_FOUND = "No layer stands out: the gain is smaller than the noise of this machine."
_NO_CAUSE_SEEN = "It is slower, but neither a layer nor a conversion stands out as the cause."
_MOST_LAYERS = 3
#: A layer counts as slower when it takes this much longer than before, and at least so much of the run.
_SLOWER = 1.1
_TELLING_SHARE = 0.01
_CONVERSIONS_SHARE = 0.03
_NAME_LENGTH = 44


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is said of a candidate that is not faster: a heading and sentences."""

    title: str
    sentences: tuple[str, ...]


def explanation(document: Document, *, original: Document | None = None) -> Explanation | None:
    """None for a candidate that is faster, and for a document without layers.

    Args:
        document: a candidate's `build` or `optimize` document.
        original: a profile of the original, for documents that carry none of their own.
    """
    verdict = latency(document.get("comparison") or document).verdict
    if not document.get("layers") or (verdict == "better" and not document.get("unchanged")):
        return None
    found = reasons(document, original=original) or (_NO_CAUSE_SEEN if verdict == "worse" else _NOTHING_FOUND,)
    told = (tried(document["tried"]),) if document.get("tried") else ()
    return Explanation("What is known" if verdict == "not measured" else "Why it is not faster", (*found, *told))


def reasons(document: Document, *, original: Document | None = None) -> tuple[str, ...]:
    """What explains that there is no gain, the most telling first; empty where nothing was found.

    Args:
        document: a candidate's `build` or `optimize` document.
        original: a profile of the original, for documents that carry none of their own.
    """
    found = [str(document["why"])] if document.get("unchanged") and document.get("why") else []
    found += _missed(document)
    found += _executed(document.get("layers") or (), kept_original=bool(document.get("unchanged")))
    found += _conversions(document)
    found += _slower_layers(document.get("original_profile") or original or {}, document.get("profile") or {})
    return tuple(found)


def _missed(document: Document) -> list[str]:
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


def _reached(compared: Document, metric: str | None) -> float | None:
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


def _advice(text: str, compared: Document, value: float) -> str:
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


def _executed(rows: Sequence[Document], *, kept_original: bool) -> list[str]:
    asked = [row for row in rows if row["requested"] != "fp32"]
    if not asked:
        nothing = ["Nothing was lowered, so there is nothing that could be faster."]
        return nothing if rows and not kept_original else []
    missed = [row for row in asked if not as_asked(row)]
    if not missed:
        return []
    why: dict[str, int] = {}
    for row in missed:
        why[row.get("why") or "no reason given"] = why.get(row.get("why") or "no reason given", 0) + 1
    commonest = max(why, key=lambda reason: why[reason])
    told = f"{len(missed)} of {quantities.counted(len(asked), 'layer')} {'does' if len(missed) == 1 else 'do'} not"
    return [f"{told} run as asked{'; most often' if len(missed) > 1 else ''}: {commonest}."]


def _conversions(document: Document) -> list[str]:
    conversions = document.get("conversions") or {}
    ms, count = conversions.get("ms"), conversions.get("count")
    whole = (document.get("profile") or {}).get("kernel_ms")
    if not ms or not count or not whole or ms / whole < _CONVERSIONS_SHARE:
        return []
    cost = f"{quantities.time_ms(ms)} of the {quantities.time_ms(whole)} in kernels ({quantities.share(ms / whole)})"
    remedy = "lower neighbouring layers together, or leave the lonely ones in fp32"
    told = f"{quantities.counted(count, 'conversion')} between precisions {'takes' if count == 1 else 'take'}"
    return [f"{told} {cost}: {remedy}."]


def _slower_layers(before: Document, after: Document) -> list[str]:
    then = {row["id"]: row for row in before.get("layers") or ()}
    slower = []
    for now in after.get("layers") or ():
        old = then.get(now["id"])
        if old is None or not old["ms"] or not now["ms"] or (now.get("share") or 0.0) < _TELLING_SHARE:
            continue
        if now["ms"] > _SLOWER * old["ms"]:
            slower.append((now["ms"] - old["ms"], old["ms"], now))
    if not slower:
        return []
    worst = sorted(slower, key=lambda entry: -entry[0])[:_MOST_LAYERS]
    told = "; ".join(
        f"{shorten(now['id'], _NAME_LENGTH)} ({now['op']}) {' → '.join(quantities.times_ms(old_ms, now['ms']))}"
        for _, old_ms, now in worst
    )
    above_all = ", above all" if len(slower) > len(worst) else ":"
    return [f"{quantities.counted(len(slower), 'layer')} became slower{above_all} {told}."]
