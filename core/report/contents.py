"""Contents: whether a stored report is made of what a report is made of, so that whoever reads it may rely on that.

Only kinds are looked at. Whether the figures are true is what measuring again tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from core.errors import BundleError

Check = Callable[[Any, str], str | None]
"""Takes a value and its place; what is wrong there as a sentence without its end, or None."""


def check_report(report: Mapping[str, Any], *, name: str) -> None:
    """Refuses a report whose parts are not of their kinds.

    Args:
        report: as read from `report.json`.
        name: of the bundle, for the message.

    Raises:
        BundleError: names the first such part.
    """
    wrong = _REPORT(report, "")
    if wrong is not None:
        message = f"'{name}' holds no report of Mixdesk: in its report.json, {wrong}."
        raise BundleError(message, hint="Have the bundle written again.")


def _number(value: Any, place: str) -> str | None:
    fine = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return None if fine else f"'{place}' is {_kind(value)}, not a number"


def _text(value: Any, place: str) -> str | None:
    return None if isinstance(value, str) else f"'{place}' is {_kind(value)}, not a text"


def _truth(value: Any, place: str) -> str | None:
    return None if isinstance(value, bool) else f"'{place}' is {_kind(value)}, not true or false"


def _interval(value: Any, place: str) -> str | None:
    if not isinstance(value, list) or len(value) != 2 or any(_number(end, place) for end in value):
        return f"'{place}' is no interval of two numbers"
    return None


def _or_null(check: Check) -> Check:
    return lambda value, place: None if value is None else check(value, place)


def _list_of(check: Check) -> Check:
    def listed(value: Any, place: str) -> str | None:
        if not isinstance(value, list):
            return f"'{place}' is {_kind(value)}, not a list"
        found = (check(item, f"{place}[{index}]") for index, item in enumerate(value))
        return next((wrong for wrong in found if wrong), None)

    return listed


def _object(needed: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with all of `needed`; of `optional` and whatever else may be in it, the named ones are looked at."""

    def checked(value: Any, place: str) -> str | None:
        if not isinstance(value, dict):
            return f"'{place}' is {_kind(value)}, not an object"
        missing = next((key for key in needed if key not in value), None)
        if missing is not None:
            return f"'{_join(place, missing)}' is missing"
        known = {**needed, **(optional or {})}
        found = (check(value[key], _join(place, key)) for key, check in known.items() if key in value)
        return next((wrong for wrong in found if wrong), None)

    return checked


def _join(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


_TIMES = {"before_ms": _number, "after_ms": _number, "how": _text}
_SPEEDUP = _object({"ratio": _number, "ci95": _interval}, {**_TIMES, "trustworthy": _truth})
_LATENCY = _object({"ratio": _number, "ci95": _interval, **_TIMES}, {"trustworthy": _truth})
_COUNTS = _object({"before_bytes": _or_null(_number), "after_bytes": _or_null(_number)})
_FIDELITY = _object(
    {},
    {
        **dict.fromkeys(("sqnr_db", "cosine", "kl", "agreement"), _or_null(_number)),
        "outputs": _or_null(_list_of(_object({}, {"name": _text, "weight": _number}))),
    },
)
_ACCURACY = _object(
    {},
    {
        **dict.fromkeys(("before", "after"), _or_null(_number)),
        "metric": _or_null(_text),
        "ci95_change": _or_null(_interval),
    },
)
_CONDITION = _object({"metric": _text, "required": _or_null(_number), "value": _or_null(_number)})
_TARGET = _object({"text": _text, "met": _truth}, {"each": _or_null(_list_of(_CONDITION))})
_CONDITIONS = _object(
    dict.fromkeys(
        ("cpu", "cores", "onnxruntime", "provider", "threads", "batch", "seed", "load_average", "time"),
        lambda value, place: None,
    )
)
_LAYER = _object({"id": _text, "produced": _text, "executed": _or_null(_text)}, {"why": _or_null(_text)})
_COMPARISON = _object(
    {"latency": _LATENCY, "size": _COUNTS, "memory": _COUNTS, "accuracy": _ACCURACY, "fidelity": _FIDELITY},
    {"gate": _or_null(_TARGET), "why": _or_null(_text)},
)
_DATA = _object(
    {
        "name": _or_null(_text),
        "samples": _number,
        "splits": _object({}),
        "labels": _truth,
        "synthetic": _truth,
        "remarks": _list_of(_text),
    }
)
_DIFFERENCE = _object({"layer": _or_null(_text), "what": _text, "why": _text})
_PERMISSION = _or_null(_object({}, {"why": _or_null(_text)}))
_REPORT = _object(
    {"conditions": _CONDITIONS, "layers": _list_of(_LAYER)},
    {
        "model": _or_null(_text),
        "name": _or_null(_text),
        "why": _or_null(_text),
        "bytes": _or_null(_number),
        "unchanged": _or_null(_truth),
        "comparison": _or_null(_COMPARISON),
        "speedup": _or_null(_SPEEDUP),
        "size": _or_null(_COUNTS),
        "memory": _or_null(_COUNTS),
        "fidelity": _or_null(_FIDELITY),
        "accuracy": _or_null(_ACCURACY),
        "target": _or_null(_TARGET),
        "data": _or_null(_DATA),
        "differences": _or_null(_list_of(_DIFFERENCE)),
        "notes": _or_null(_list_of(_text)),
        "dynamic": _PERMISSION,
        "session": _PERMISSION,
    },
)
