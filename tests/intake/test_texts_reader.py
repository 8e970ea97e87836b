from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from core.intake import texts_reader
from core.intake.members import open_members
from core.intake.preprocessing import TextPreprocessing
from core.intake.texts_reader import TextReader
from tests.intake.sources import tokenizer, write_folder
from tests.intake.texts import load

BERT = load(
    "g (int64[b,s] input_ids, int64[b,s] attention_mask, int64[b,s] token_type_ids) => (int64[b,s] y)"
    " { y = Identity (input_ids) }"
)
FIXED = load("g (int32[b,6] tokens) => (int32[b,6] y) { y = Identity (tokens) }")
STRINGS = load("g (string[n,1] text) => (string[n,1] y) { y = Identity (text) }")
TABLE = b"text,label\ngood film,pos\na very bad film,neg\n"


@contextmanager
def opened(folder: Path, files: dict[str, bytes], model: Any = BERT, **options: Any) -> Iterator[TextReader]:
    source = write_folder(folder / "data", files)
    with open_members(source) as members:
        yield TextReader(members, model, TextPreprocessing(**options), tokenizer(folder / "tokenizer.json"))


def test_inputs_are_filled_by_name_and_padded_to_the_longest(tmp_path: Path) -> None:
    with opened(tmp_path, {"t.csv": TABLE}, labels="column") as reader:
        reader.begin(reader.items)
        feed = reader.feed(reader.items[0])
    assert [item.label for item in reader.items] == ["pos", "neg"]
    assert {name: array.tolist() for name, array in feed.items()} == {
        "input_ids": [[2, 4, 6, 3, 0, 0]],
        "attention_mask": [[1, 1, 1, 1, 0, 0]],
        "token_type_ids": [[0] * 6],
    }
    assert feed["input_ids"].dtype == np.int64


def test_the_length_may_be_declared_or_demanded_by_the_model(tmp_path: Path) -> None:
    with opened(tmp_path, {"t.csv": TABLE}, max_length=9, padding="max_length") as reader:
        reader.begin(reader.items)
        assert reader.feed(reader.items[0])["input_ids"].shape == (1, 9)
    with opened(tmp_path, {"t.csv": TABLE}, FIXED, max_length=6) as reader:
        reader.begin(reader.items)
        feed = reader.feed(reader.items[0])
    assert (feed["tokens"].shape, feed["tokens"].dtype.name) == ((1, 6), "int32")
    with pytest.raises(DataError, match="takes 6 tokens"), opened(tmp_path, {"t.csv": TABLE}, FIXED):
        pass


def test_too_much_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts_reader, "MOST_CHARACTERS", 20)
    with pytest.raises(DataError, match="million letters"), opened(tmp_path, {"t.csv": TABLE}):
        pass


def test_cut_texts_are_counted(tmp_path: Path) -> None:
    with opened(tmp_path, {"t.csv": TABLE}, max_length=4) as reader:
        reader.begin(reader.items)
    assert reader.remarks == ["1 of 2 texts are longer than 4 tokens and were cut."]


@pytest.mark.parametrize(
    ("table", "options", "texts", "labels"),
    [
        (b"good,1\nbad,0\n", {}, ["good", "bad"], ["1", "0"]),
        (b"label,sentence\n1,good\n", {}, ["good"], ["1"]),
        (b"id,a,b\n7,good,bad\n", {"text_column": "A", "label_column": "b"}, ["good"], ["bad"]),
    ],
)
def test_columns_are_found_by_name_or_place(
    tmp_path: Path, table: bytes, options: dict[str, str], texts: list[str], labels: list[str]
) -> None:
    with opened(tmp_path, {"t.csv": table}, labels="column", **options) as reader:
        assert [item.label for item in reader.items] == labels
        assert [reader.show(item).text for item in reader.items] == [f"[CLS] {text} [SEP]" for text in texts]


@pytest.mark.parametrize(
    ("files", "options", "said"),
    [
        ({"a.csv": TABLE, "b.csv": TABLE}, {}, "2 tables"),
        ({"t.csv": b""}, {}, "is empty"),
        ({"t.csv": b"text\ngood\n"}, {"labels": "column"}, "no column of labels"),
        ({"t.csv": TABLE}, {"text_column": "txt"}, "Did you mean 'text'"),
        ({"t.csv": b"text,label\ngood\n"}, {"labels": "column"}, "Row 2"),
        ({"t.txt": b"good\n"}, {"labels": "column"}, "no columns"),
    ],
)
def test_tables_that_do_not_fit_are_refused(
    tmp_path: Path, files: dict[str, bytes], options: dict[str, str], said: str
) -> None:
    with pytest.raises(DataError, match=said), opened(tmp_path, files, **options):
        pass


def test_lines_are_texts_labelled_by_file_and_files_are_texts_labelled_by_folder(tmp_path: Path) -> None:
    lines = {"pos.txt": b"good\n\nvery good\n", "neg.tok": b"bad\n"}
    with opened(tmp_path / "a", lines, labels="file") as reader:
        assert [(item.name, item.label) for item in reader.items] == [
            ("neg.tok:1", "neg"),
            ("pos.txt:1", "pos"),
            ("pos.txt:3", "pos"),
        ]
    files = {"pos/1.txt": b"good\nfilm", "neg/1.txt": b"bad \xe9"}
    with opened(tmp_path / "b", files, labels="folder") as reader:
        assert [item.label for item in reader.items] == ["neg", "pos"]
        assert reader.show(reader.items[1]).text == "[CLS] good film [SEP]"
    assert reader.remarks == ["1 text files are not UTF-8 and were read as Latin-1."]


def test_strings_go_to_the_model_as_they_are(tmp_path: Path) -> None:
    source = write_folder(tmp_path, {"t.txt": b"good film\n"})
    with open_members(source) as members:
        reader = TextReader(members, STRINGS, TextPreprocessing(), None)
        reader.begin(reader.items)
        assert reader.feed(reader.items[0])["text"].tolist() == [["good film"]]
        assert reader.show(reader.items[0]).text == "good film"


def test_tokens_need_a_tokenizer_of_that_model(tmp_path: Path) -> None:
    with open_members(write_folder(tmp_path, {"t.csv": TABLE})) as members, pytest.raises(DataError, match="tokenizer"):
        TextReader(members, BERT, TextPreprocessing(), None)
    small = load(
        "g (int64[b,s] input_ids) => (float[b,s,1] y) <float[5,1] w = {0, 0, 0, 0, 0}> { y = Gather (w, input_ids) }"
    )
    with opened(tmp_path, {"t.csv": TABLE}, small) as reader, pytest.raises(DataError, match="knows only 5 tokens"):
        reader.begin(reader.items)
