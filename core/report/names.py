"""Names as they are shown where room is short: cut in the middle, since both ends of a layer's name tell most."""

from __future__ import annotations

ELLIPSIS = "…"


def shorten(name: str, length: int) -> str:
    """At most `length` characters; what is cut is in the middle."""
    if len(name) <= length:
        return name
    if length <= 1:
        return ELLIPSIS[:length]
    tail = length // 2
    return f"{name[: length - 1 - tail]}{ELLIPSIS}{name[len(name) - tail :]}"
