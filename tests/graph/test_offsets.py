"""Offsets: no two buffers that are in use together share a byte, and the total is what the algorithm gives by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.graph.offsets import Use, place

_use = st.tuples(st.integers(1, 50), st.integers(0, 12), st.integers(0, 6)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
)


def total(uses: list[Use]) -> int:
    return max((start + use[0] for start, use in zip(place(uses), uses, strict=True)), default=0)


def test_nothing_needs_nothing() -> None:
    assert place([]) == []


def test_what_is_free_again_is_used_again() -> None:
    assert place([(10, 0, 1), (10, 1, 2), (10, 2, 3)]) == [0, 10, 0]


def test_the_smallest_gap_that_fits_is_taken() -> None:
    # placed by size: 40 at 0, 30 at 40, 20 at 70, 10 at 90; then the last two are used when some of these are free
    uses = [(40, 0, 1), (30, 0, 5), (20, 0, 1), (10, 0, 5), (9, 3, 3)]
    assert place(uses) == [0, 40, 70, 90, 70]  # the gap of 20 at 70, not that of 40 at 0


def test_where_no_gap_fits_it_goes_behind_the_last() -> None:
    assert place([(8, 0, 0), (6, 0, 2), (7, 2, 2)]) == [0, 8, 0]
    assert place([(8, 0, 0), (6, 0, 2), (5, 0, 2)]) == [0, 8, 14]


@given(st.lists(_use, max_size=25))
def test_what_is_in_use_together_never_overlaps(uses: list[Use]) -> None:
    places = place(uses)
    for one, (size, first, last) in enumerate(uses):
        for two, (other, begin, end) in enumerate(uses[:one]):
            if first <= end and begin <= last:
                assert places[one] + size <= places[two] or places[two] + other <= places[one]


@given(st.lists(_use, max_size=25))
def test_the_total_lies_between_the_peak_and_the_sum(uses: list[Use]) -> None:
    peak = max((sum(size for size, first, last in uses if first <= step <= last) for step in range(20)), default=0)
    assert peak <= total(uses) <= sum(size for size, _, _ in uses)
