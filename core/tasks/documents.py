"""Documents: a task's result as the JSON everybody reads, with version, duration and conditions; absent is null."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import core
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings


def complete(
    document: Mapping[str, Any], *, settings: SessionSettings, batch: int, seed: int, seconds: float
) -> dict[str, Any]:
    """Adds what every document carries: `mixdesk` (version), `seconds` and `conditions`.

    Conditions that the document already has stay: they are those of the measurement itself.
    """
    conditions = document.get("conditions") or read_conditions(settings, batch=batch, seed=seed).to_dict()
    whole = {"mixdesk": core.__version__, **document, "seconds": round(seconds, 3), "conditions": conditions}
    plain = to_plain(whole)
    assert isinstance(plain, dict)
    return plain


def to_plain(value: Any) -> Any:
    """The value in JSON's own types: tuples become lists, numbers that JSON cannot say (NaN, infinity) become null."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return str(value)
    if hasattr(value, "item"):
        return to_plain(value.item())
    raise TypeError(f"{type(value).__name__} has no place in a document")
