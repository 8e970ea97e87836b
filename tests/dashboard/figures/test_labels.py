"""Names in figures: short enough, and never markup."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.figures.labels import plain, short_plain, shorten


def test_a_long_name_keeps_both_ends() -> None:
    assert shorten("/backbone/stage1/block0/conv1/Conv", 15) == "/backbo…v1/Conv"


def test_a_short_name_stays_as_it_is() -> None:
    assert shorten("conv1", 5) == "conv1"


@given(st.text(max_size=60), st.integers(0, 40))
def test_a_shortened_name_is_never_longer_than_asked(name: str, length: int) -> None:
    assert len(shorten(name, length)) <= length


def test_markup_in_a_name_is_shown_and_not_obeyed() -> None:
    assert plain('<a href="x">&</a>') == '&lt;a href="x"&gt;&amp;&lt;/a&gt;'
    assert short_plain("<b>bold</b>", 5) == "&lt;b…b&gt;"
