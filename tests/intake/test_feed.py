"""The feed of a run is what the inputs take, or one line says what is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from core.intake.feed import fitting_feed
from core.intake.model import TensorSpec

SPECS = (TensorSpec("x", "float32", ("batch", 3)),)
X = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([X], "A run takes arrays by the names of inputs, like {'x': array}, not a value of type list."),
        (None, "A run takes arrays by the names of inputs, like {'x': array}, not None."),
        ({"z": X}, "The model has no input 'z'."),
        ({}, "The input 'x' is missing."),
        ({"x": None}, "Input 'x' takes float32, not None."),
        ({"x": object()}, "Input 'x' takes float32, not a value of type object."),
        ({"x": "text"}, "Input 'x' takes float32, not text."),
        ({"x": X.astype(np.float64)}, "Input 'x' takes float32, not float64."),
        ({"x": X.astype(np.int64)}, "Input 'x' takes float32, not int64."),
        ({"x": X[0]}, "Input 'x' takes [batch, 3], but the array has [3]."),
        ({"x": X[:, :2]}, "Input 'x' takes [batch, 3], but the array has [2, 2]."),
        ({"x": [[1.0, 2.0, 3.0], [1.0]]}, "Input 'x' takes an array of float32, not lists of unequal lengths."),
    ],
)
def test_what_does_not_fit_is_said_in_one_line(given: Any, says: str) -> None:
    with pytest.raises(DataError) as refused:
        fitting_feed(SPECS, given)
    assert refused.value.message == says


def test_lists_of_numbers_become_the_inputs_type() -> None:
    assert fitting_feed(SPECS, {"x": [[1, 2.5, 3]]})["x"].dtype == np.float32
    whole = (TensorSpec("n", "int32", ()),)
    assert fitting_feed(whole, {"n": 5})["n"].dtype == np.int32
    for wrong in (2**40, 1.5):
        with pytest.raises(DataError, match="Input 'n' takes int32"):
            fitting_feed(whole, {"n": wrong})


def test_texts_and_arrays_of_the_type_are_taken() -> None:
    assert fitting_feed(SPECS, {"x": X})["x"] is X
    assert fitting_feed((TensorSpec("t", "str", None),), {"t": ["a", "b"]})["t"].dtype == object
