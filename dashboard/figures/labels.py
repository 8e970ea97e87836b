"""Names as a figure shows them: shortened in the middle, and without anything that Plotly would read as markup."""

from __future__ import annotations

from core.report.names import ELLIPSIS, shorten

__all__ = ["ELLIPSIS", "plain", "short_plain", "shorten"]


def plain(text: str) -> str:
    """The text with `&`, `<` and `>` escaped: Plotly reads a few HTML tags in labels and hovers."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short_plain(name: str, length: int) -> str:
    """Shortened, then escaped."""
    return plain(shorten(name, length))
