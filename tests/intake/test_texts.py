from __future__ import annotations

from pathlib import Path

import pytest

from core.errors import DataError
from core.intake.texts import TextTokenizer, tokenizer_length
from tests.intake.sources import tokenizer

PADDING = {
    "strategy": {"Fixed": 8},
    "direction": "Left",
    "pad_to_multiple_of": None,
    "pad_id": 3,
    "pad_type_id": 0,
    "pad_token": "[SEP]",
}
TRUNCATION = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}


def test_words_become_tokens_with_special_ones_around_them(tmp_path: Path) -> None:
    tokens = TextTokenizer(tokenizer(tmp_path / "t.json"), max_length=16)("A very GOOD film")
    assert tokens.ids == (2, 7, 8, 4, 6, 3)
    assert not tokens.cut


def test_long_texts_are_cut_with_their_special_tokens_kept(tmp_path: Path) -> None:
    tokens = TextTokenizer(tokenizer(tmp_path / "t.json"), max_length=4)("a very good film")
    assert tokens.ids == (2, 7, 8, 3)
    assert tokens.cut


def test_rows_are_padded_by_role(tmp_path: Path) -> None:
    read = TextTokenizer(tokenizer(tmp_path / "t.json"), max_length=16)
    tokens = read("good")
    rows = {role: read.pad(tokens, 5, role).tolist() for role in ("ids", "mask", "types", "positions")}
    assert rows == {
        "ids": [2, 4, 3, 0, 0],
        "mask": [1, 1, 1, 0, 0],
        "types": [0, 0, 0, 0, 0],
        "positions": [0, 1, 2, 2, 2],
    }


def test_the_files_own_padding_says_side_and_token_but_not_length(tmp_path: Path) -> None:
    read = TextTokenizer(tokenizer(tmp_path / "t.json", padding=PADDING), max_length=16)
    assert read("good").ids == (2, 4, 3)
    assert read.pad(read("good"), 5, "ids").tolist() == [3, 3, 2, 4, 3]
    assert read.pad(read("good"), 5, "mask").tolist() == [0, 0, 1, 1, 1]


def test_the_files_own_length_is_known_but_does_not_rule(tmp_path: Path) -> None:
    path = tokenizer(tmp_path / "t.json", truncation=TRUNCATION)
    assert tokenizer_length(path) == 5
    assert len(TextTokenizer(path, max_length=16)("a very very very good film").ids) == 8
    assert tokenizer_length(tokenizer(tmp_path / "u.json")) is None


@pytest.mark.parametrize("content", [b"", b"{}", b"no json", b"\xff\xfe"])
def test_what_is_no_tokenizer_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "tokenizer.json").write_bytes(content)
    with pytest.raises(DataError, match=r"tokenizer\.json") as refused:
        TextTokenizer(tmp_path / "tokenizer.json", max_length=8)
    assert "\n" not in refused.value.message
    with pytest.raises(DataError):
        tokenizer_length(tmp_path / "absent.json")
