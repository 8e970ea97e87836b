"""File names: safe on every system, and still telling."""

from __future__ import annotations

import pytest

from dashboard.file_names import slug


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("digits-cnn", "accuracy>=99%"), "digits-cnn-accuracy-99"),
        (("my net", "int8_v1.5"), "my-net-int8-v1.5"),
        (("../../etc/passwd", ""), "etc-passwd"),
        (("größe", "模型"), "größe-模型"),
        (("a - - b", "c..d"), "a-b-c..d"),
        (("<>",), "mixdesk"),
    ],
)
def test_a_name_holds_letters_digits_dashes_and_points_only(parts: tuple[str, ...], name: str) -> None:
    assert slug(*parts) == name


def test_where_nothing_is_left_the_other_name_is_taken() -> None:
    assert slug("%", otherwise="ab12") == "ab12"
