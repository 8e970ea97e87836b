from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from core.intake.constants import constant_feeds, propose_constants
from tests.intake.texts import load

MODEL = load("g (float[b,t] x, float[2,b,4] state, int64 sr, bool[b,t] mask) => (float[b,t] y) { y = Relu (x) }")
FED = {"x": np.zeros((1, 7), np.float32)}


def feeds(**changes: Any) -> dict[str, np.ndarray[Any, Any]]:
    return constant_feeds(MODEL, {"state": 0, "sr": 16_000, "mask": 1, **changes}, FED)


def test_numbers_fill_the_inputs_shape_and_open_sizes_follow_the_fed_input() -> None:
    made = feeds()
    assert {name: (array.shape, array.dtype.name) for name, array in made.items()} == {
        "state": ((2, 1, 4), "float32"),
        "sr": ((), "int64"),
        "mask": ((1, 7), "bool"),
    }
    assert made["sr"] == 16_000
    assert made["mask"].all()


def test_lists_are_the_array_and_a_shape_may_be_given() -> None:
    assert feeds(mask=[[True, False]])["mask"].tolist() == [[True, False]]
    assert feeds(state={"value": 2, "shape": [2, 3, 4]})["state"].tolist() == np.full((2, 3, 4), 2.0).tolist()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"x": 0}, "has a constant too"),
        ({"stat": 0}, "Did you mean 'state'"),
        ({"sr": "fast"}, "is no int64"),
        ({"state": {"value": 0, "shape": "big"}}, "no list of whole numbers"),
        ({"state": {"value": 0, "shape": [100_000, 100_000]}}, "too large"),
    ],
)
def test_constants_that_do_not_fit_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        feeds(**changes)


def test_an_input_that_nothing_feeds_is_named() -> None:
    with pytest.raises(DataError, match="Nothing feeds input 'state'"):
        constant_feeds(MODEL, {"sr": 8000}, FED)


def test_constants_are_proposed_and_told() -> None:
    values, told = propose_constants(MODEL, {"x"}, values={r"(^|_)sr$": 8000})
    assert values == {"state": 0, "sr": 8000, "mask": 1}
    assert told[1] == "input 'sr' is fed with 8000 throughout"
