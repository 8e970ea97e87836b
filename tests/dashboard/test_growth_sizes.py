"""What the form for growth proposes, reads and asks the job for."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import RequestError
from dashboard.growth_sizes import named_shapes, open_sizes, read_sizes, three_sizes

INPUTS: list[dict[str, Any]] = [
    {"name": "ids", "shape": ["batch", "sequence"]},
    {"name": "mask", "shape": ["batch", "sequence"]},
    {"name": "rate", "shape": []},
    {"name": "fixed", "shape": [1, 8]},
    {"name": "unknown", "shape": None},
]
KNOWN = {"ids": [1, 128], "mask": [1, 128], "rate": [], "fixed": [1, 8], "unknown": [2, 2]}


def test_open_dimensions_are_offered_the_largest_first() -> None:
    assert [(field.label, field.size) for field in open_sizes(INPUTS, KNOWN)] == [("sequence", 128), ("batch", 1)]
    assert open_sizes([INPUTS[3]], KNOWN) == ()


@pytest.mark.parametrize(("size", "proposed"), [(128, (32, 64, 128)), (4, (1, 2, 4)), (1, (1, 2, 4)), (3, (3, 6, 12))])
def test_sizes_that_are_proposed_stay_within_what_runs_unless_it_is_small(size: int, proposed: tuple[int, ...]) -> None:
    assert three_sizes(size) == proposed


def test_a_size_stands_at_every_place_of_its_symbol_and_the_others_stay() -> None:
    sequence = open_sizes(INPUTS, KNOWN)[0]
    first, second = named_shapes(INPUTS, KNOWN, sequence, (16, 64))
    assert first["name"] == "sequence 16"
    assert first["shapes"] == {"ids": [1, 16], "mask": [1, 16], "rate": [], "fixed": [1, 8], "unknown": [2, 2]}
    assert second["shapes"]["mask"] == [1, 64]


def test_sizes_are_read_in_order_each_once() -> None:
    assert read_sizes(" 64, 16;32 16") == (16, 32, 64)


@pytest.mark.parametrize(
    "text", ["", "a, b", "0, 4", "-3, 4", "4", "4, 4", "1.5, 2", ", ".join(map(str, range(1, 15)))]
)
def test_what_are_no_sizes_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(RequestError) as told:
        read_sizes(text)
    assert "16, 32, 64" in str(told.value.hint)
