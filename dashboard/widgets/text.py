"""Names as they are: layer and model names come from files and must never be read as markup."""

from __future__ import annotations

import re

_MARKUP = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:&^=])")


def plain(text: str) -> str:
    """The text for a label that Streamlit reads as Markdown: it looks the same and means nothing more."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def sentence(text: str) -> str:
    """The text with a capital at its start, the rest as it is."""
    return text[:1].upper() + text[1:]
