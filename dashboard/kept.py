"""Kept: what was worked out from a shared document, so that a click does not work it out again.

Documents are large and the same object for all visitors as long as they are in use. They are told apart by identity; an
entry holds on to the documents it was made from, so that no other object can take their place.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

#: Results of one function that are kept; the least recently used goes first.
MOST_KEPT = 16


def kept(function: Callable[P, R]) -> Callable[P, R]:
    """Keeps the results of a pure function; nobody may change what it takes or gives."""
    entries: OrderedDict[Hashable, tuple[Any, R]] = OrderedDict()
    lock = threading.Lock()

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        key = (tuple(map(_identity, args)), tuple((name, _identity(value)) for name, value in sorted(kwargs.items())))
        with lock:
            if key in entries:
                entries.move_to_end(key)
                return entries[key][1]
        result = function(*args, **kwargs)
        with lock:
            entries[key] = ((args, kwargs), result)
            while len(entries) > MOST_KEPT:
                entries.popitem(last=False)
        return result

    return wrapped


def _identity(value: Any) -> Hashable:
    """The value itself where it is small and cannot change, else which object it is."""
    if value is None or isinstance(value, str | int | float | frozenset):
        return (type(value), value)
    return id(value)
