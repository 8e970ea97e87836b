"""Names from files are shown as they are."""

from __future__ import annotations

import pytest

from dashboard.widgets.text import plain


@pytest.mark.parametrize(
    "name", ["**bold**", "<b>x</b>", "[a](http://x)", ":red[x]", "`code`", "$x$", "# a", "a_b_c", "1. x"]
)
def test_every_sign_that_means_something_is_escaped(name: str) -> None:
    shown = plain(name)
    assert shown != name
    assert shown.replace("\\", "") == name


def test_a_plain_name_stays_as_it_is() -> None:
    assert plain("conv1/Relu") == "conv1/Relu"


def test_line_breaks_become_spaces() -> None:
    assert plain("a\n\n b") == "a b"
