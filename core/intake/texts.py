"""Texts: a tokenizer.json turns text into numbers, cut to a length and padded, as the model's inputs take them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from core.errors import DataError
from core.intake.feeds import Array

_PAD_TOKENS = ("[PAD]", "<pad>", "<PAD>", "<|endoftext|>", "</s>")
_MOST_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class Tokens:
    """One text as token ids, with the types of their segments; `cut` where it was longer than allowed."""

    ids: tuple[int, ...]
    types: tuple[int, ...]
    cut: bool


class TextTokenizer:
    """A Hugging Face tokenizer file, its own cutting and padding replaced by the declared ones."""

    def __init__(self, path: Path, *, max_length: int, name: str | None = None) -> None:
        self._tokenizer = _load(path, name or path.name)
        padding: dict[str, Any] = self._tokenizer.padding or {}
        self.pads_left = padding.get("direction") == "left"
        self.pad_id = int(padding.get("pad_id", self._pad_id()))
        self.pad_type = int(padding.get("pad_type_id", 0))
        self.own_length: int | None = (self._tokenizer.truncation or {}).get("max_length")
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length)

    def __call__(self, text: str) -> Tokens:
        """The tokens of a text, special ones included."""
        encoding = self._tokenizer.encode(text)
        return Tokens(tuple(encoding.ids), tuple(encoding.type_ids), bool(encoding.overflowing))

    def text(self, tokens: Tokens) -> str:
        """What the tokens say, special ones included."""
        return str(self._tokenizer.decode(list(tokens.ids), skip_special_tokens=False))

    def pad(self, tokens: Tokens, length: int, role: str) -> Array:
        """One row of `length` numbers for the ids, the mask, the types or the positions."""
        count, missing = len(tokens.ids), length - len(tokens.ids)
        rows: dict[str, tuple[tuple[int, ...] | range, int]] = {
            "ids": (tokens.ids, self.pad_id),
            "mask": ((1,) * count, 0),
            "types": (tokens.types, self.pad_type),
            "positions": (range(count), max(count - 1, 0)),
        }
        values, filler = rows[role]
        padding = (filler,) * missing
        return np.array((*padding, *values) if self.pads_left else (*values, *padding), np.int64)

    def _pad_id(self) -> int:
        found = (self._tokenizer.token_to_id(token) for token in _PAD_TOKENS)
        return next((token for token in found if token is not None), 0)


def tokenizer_length(path: Path) -> int | None:
    """To how many tokens the file itself says to cut, None where it does not.

    Raises:
        DataError: it is no tokenizer file.
    """
    length = (_load(path, path.name).truncation or {}).get("max_length")
    return int(length) if isinstance(length, int) and length > 0 else None


def _load(path: Path, name: str) -> Any:
    hint = "Give the tokenizer.json that came with the model."
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(f"'{name}' is too large for a tokenizer.", hint=hint)
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"The tokenizer '{name}' cannot be read.", hint=hint) from error
    try:
        return Tokenizer.from_str(text)
    except Exception as error:  # the library raises nothing more particular
        why = " ".join(str(error).split())[:120]
        raise DataError(f"'{name}' is no tokenizer.json: {why}", hint=hint) from error
