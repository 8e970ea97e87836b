"""Texts as samples: rows of a table, lines of text files, or whole files in a folder per class."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from core.errors import DataError, did_you_mean
from core.intake.feeds import Array
from core.intake.labels import decode, file_labels, find_column, read_table
from core.intake.members import TABLE_SUFFIXES, Members
from core.intake.model import Model
from core.intake.preprocessing import TextPreprocessing
from core.intake.reading import Item, Shown
from core.intake.tables import index_limit
from core.intake.targets import text_targets
from core.intake.texts import TextTokenizer, Tokens

#: Of all texts of a source together: they are held in memory until some are chosen.
MOST_CHARACTERS = 500_000_000
TEXT_COLUMNS = ("text", "sentence", "content", "review", "document", "question", "input")
LABEL_COLUMNS = ("label", "labels", "class", "y", "target", "category", "sentiment")


class TextReader:
    """The texts of a source for one model."""

    def __init__(self, members: Members, model: Model, how: TextPreprocessing, tokenizer: Path | None) -> None:
        self.targets = text_targets(model, how.input)
        self.how = dataclasses.replace(how, input=(self.targets.get("ids") or self.targets["text"]).name)
        self.remarks: list[str] = []
        self._texts: dict[tuple[str, int], str] = {}
        self._known: dict[tuple[str, int], Tokens] = {}
        self._characters = 0
        self._tokenizer: TextTokenizer | None = None
        if "ids" in self.targets:
            if tokenizer is None:
                message = f"Input '{self.targets['ids'].name}' takes tokens, and there is no tokenizer to make them."
                raise DataError(message, hint="Give the model's tokenizer.json.")
            self._tokenizer = TextTokenizer(tokenizer, max_length=how.max_length, name="tokenizer.json")
            self._limit = index_limit(model.ir, self.targets["ids"].name)
        self._length = _fixed_length(self) or how.max_length
        self.items = tuple(
            _table_items(self, members) if members.having(TABLE_SUFFIXES) else _file_items(self, members)
        )

    def remember(self, item: Item, text: str) -> Item:
        """Keeps the text of a sample; DataError where all texts together are too much for memory."""
        self._characters += len(text)
        if self._characters > MOST_CHARACTERS:
            message = f"The texts have more than {MOST_CHARACTERS / 1e6:.0f} million letters."
            raise DataError(message, hint="Give a part of them.")
        self._texts[item.file, item.place] = text
        return item

    def begin(self, chosen: Sequence[Item]) -> None:
        """Tokenizes all chosen texts: the longest sets the length, where padding is to the longest."""
        if self._tokenizer is None:
            return
        self._known = {(item.file, item.place): self._tokens(item) for item in chosen}
        cut = sum(tokens.cut for tokens in self._known.values())
        if cut:
            self.remarks.append(
                f"{cut} of {len(chosen)} texts are longer than {self.how.max_length} tokens and were cut."
            )
        if _fixed_length(self) is None and self.how.padding == "longest":
            self._length = max((len(tokens.ids) for tokens in self._known.values()), default=1)

    def feed(self, item: Item) -> dict[str, Array]:
        """The text as the inputs take it: [1, length] each, or one string."""
        if self._tokenizer is None:
            spec = self.targets["text"]
            rank = len(spec.shape or ())
            return {spec.name: np.array(self._texts[item.file, item.place], dtype=object).reshape((1,) * rank)}
        tokens = self._known.get((item.file, item.place)) or self._tokens(item)
        feeds = {}
        for role, spec in self.targets.items():
            row = self._tokenizer.pad(tokens, self._length, role).astype(np.dtype(spec.dtype))
            feeds[spec.name] = row[np.newaxis] if len(spec.shape or ()) == 2 else row
        return feeds

    def show(self, item: Item) -> Shown:
        """The text, as its tokens say it."""
        if self._tokenizer is None:
            return Shown(text=self._texts[item.file, item.place])
        return Shown(text=self._tokenizer.text(self._tokens(item)))

    def _tokens(self, item: Item) -> Tokens:
        assert self._tokenizer is not None
        tokens = self._tokenizer(self._texts[item.file, item.place])
        highest = max(tokens.ids, default=0)
        if self._limit is not None and highest >= self._limit:
            message = f"The tokenizer gives token {highest}, but the model knows only {self._limit} tokens."
            raise DataError(message, hint="Give the tokenizer.json that came with this model.")
        return tokens


def _fixed_length(reader: TextReader) -> int | None:
    """The length that the model itself demands; a longer `max_length` cannot be."""
    spec = reader.targets.get("ids")
    size = spec.shape[-1] if spec is not None and spec.shape else None
    if not isinstance(size, int):
        return None
    if reader.how.max_length > size:
        message = (
            f"Input '{spec.name if spec else ''}' takes {size} tokens, but 'max_length' is {reader.how.max_length}."
        )
        raise DataError(message, hint=f'Set "max_length": {size}.')
    return size


def _table_items(reader: TextReader, members: Members) -> list[Item]:
    tables = members.having(TABLE_SUFFIXES)
    if len(tables) > 1:
        message = f"'{members.label}' holds {len(tables)} tables: {', '.join(tables[:4])}."
        raise DataError(message, hint="Give the one that holds the samples.")
    rows = read_table(members.read(tables[0]), tables[0])
    if not rows:
        raise DataError(f"The table '{tables[0]}' is empty.", hint="One row per text.")
    text, label, header = _columns(rows[0], reader.how, tables[0])
    items = []
    for number, row in enumerate(rows[header:], start=1 + header):
        if max(text, label if label is not None else 0) >= len(row):
            raise DataError(f"Row {number} of '{tables[0]}' has only {len(row)} columns.", hint="Correct the table.")
        item = Item(f"row {number}", row[label].strip() if label is not None else "", tables[0], number)
        items.append(reader.remember(item, row[text]))
    return items


def _columns(first: Sequence[str], how: TextPreprocessing, table: str) -> tuple[int, int | None, bool]:
    """Places of text and label, and whether the first row names the columns."""
    text = find_column(first, [how.text_column.lower()] if how.text_column else TEXT_COLUMNS)
    label = find_column(first, [how.label_column.lower()] if how.label_column else LABEL_COLUMNS)
    for wanted, found in ((how.text_column, text), (how.label_column, label)):
        if wanted and found is None:
            near = did_you_mean(wanted, first)
            raise DataError(f"The table '{table}' has no column '{wanted}'.{near}", hint=f"It has {', '.join(first)}.")
    header = text is not None or label is not None
    text = text if text is not None else (1 if label == 0 and len(first) > 1 else 0)
    if how.labels != "column":
        return text, None, header
    if label is None:
        label = len(first) - 1
        if label == text:
            message = f"The table '{table}' has no column of labels."
            raise DataError(message, hint='Set "labels": "none", or name the column as "label_column".')
    return text, label, header


def _file_items(reader: TextReader, members: Members) -> list[Item]:
    """Whole files where the folder is the label, else every line that is not empty."""
    names = members.texts()
    if reader.how.labels == "column":
        message = f"'{members.label}' holds text files, which have no columns."
        raise DataError(message, hint='Set "labels" to "folder", "file" or "none".')
    labels = _labels_of_files(members, names, reader.how)
    items, foreign = [], 0
    for name in names:
        text, is_utf8 = decode(members.read(name), name)
        foreign += not is_utf8
        if reader.how.labels == "folder":
            items.append(reader.remember(Item(name, labels[name], name), text.strip()))
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                items.append(reader.remember(Item(f"{name}:{number}", labels[name], name, number), line.strip()))
    if foreign:
        reader.remarks.append(f"{foreign} text files are not UTF-8 and were read as Latin-1.")
    return items


def _labels_of_files(members: Members, names: Sequence[str], how: TextPreprocessing) -> dict[str, str]:
    if how.labels == "file" and how.label_pattern is None:
        return {name: PurePosixPath(name).name.split(".", 1)[0] for name in names}
    return file_labels(members, names, how)
