"""Names as a figure shows them: shortened in the middle, and without anything that Plotly would read as markup."""

from __future__ import annotations

ELLIPSIS = "…"


def shorten(name: str, length: int) -> str:
    """At most `length` characters; what is cut is in the middle, since both ends of a layer's name tell most."""
    if len(name) <= length:
        return name
    if length <= 1:
        return ELLIPSIS[:length]
    tail = length // 2
    return f"{name[: length - 1 - tail]}{ELLIPSIS}{name[len(name) - tail :]}"


def plain(text: str) -> str:
    """The text with `&`, `<` and `>` escaped: Plotly reads a few HTML tags in labels and hovers."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short_plain(name: str, length: int) -> str:
    """Shortened, then escaped."""
    return plain(shorten(name, length))
