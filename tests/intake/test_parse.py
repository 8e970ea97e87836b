from __future__ import annotations

import pytest

from core.errors import ModelError
from core.intake.parse import parse_model
from core.intake.source import read_source
from tests.intake.texts import TINY, to_bytes


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "zero bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "Git LFS pointer"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"this is not a model\n" * 50, "text file"),
        (b"PK\x03\x04" + bytes(20), "ZIP archive"),
        (b"\x93NUMPY" + bytes(20), "NumPy array"),
        (to_bytes(TINY)[:-7], "cut off or damaged"),
        (b"\x08\x08", "holds no graph"),
    ],
)
def test_what_is_no_model_is_named(data: bytes, said: str) -> None:
    with pytest.raises(ModelError, match=said) as refused:
        parse_model(read_source(data, name="upload"))
    assert "'upload'" in refused.value.message
    assert refused.value.hint


def test_a_model_parses() -> None:
    assert parse_model(read_source(to_bytes(TINY))).graph.name == "g"
