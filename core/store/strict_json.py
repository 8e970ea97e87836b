"""Strict JSON: what JSON cannot say (NaN, infinity) becomes null; array libraries' scalars become plain numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any


def to_json(value: object) -> str:
    """Writes `value` as strict JSON text in one line."""
    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False)


def plain(value: object) -> Any:
    """Returns `value` made of dict, list, str, int, finite float, bool and None only.

    Raises:
        TypeError: `value` holds something that has no JSON form (a bug of the caller).
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return _plain_container(value)


def _plain_container(value: object) -> Any:
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    to_list = getattr(value, "tolist", None)  # numpy arrays and scalars, without importing numpy here
    if callable(to_list):
        return plain(to_list())
    raise TypeError(f"{type(value).__name__} has no JSON form")
