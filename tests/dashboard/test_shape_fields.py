"""Sizes left open: which fields are asked for, and which shapes they give."""

from __future__ import annotations

import pytest

from core.errors import RequestError
from dashboard.shape_fields import Field, fields, is_open, read_shape, shapes_of, told

INPUTS = (
    {"name": "ids", "shape": ["batch", "sequence"]},
    {"name": "mask", "shape": ["batch", "sequence"]},
    {"name": "image", "shape": ["batch", 3, "?", "?"]},
    {"name": "fixed", "shape": [1, 4]},
)
PROPOSED = {"ids": [1, 32], "mask": [1, 32], "image": [1, 3, 224, 320], "fixed": [1, 4]}


def test_a_symbol_is_asked_for_once_and_an_unnamed_axis_on_its_own() -> None:
    asked = fields(INPUTS, PROPOSED)
    assert [(field.label, field.size) for field in asked] == [
        ("batch", 1),
        ("sequence", 32),
        ("image, axis 2", 224),
        ("image, axis 3", 320),
    ]


def test_one_answer_stands_at_all_its_places() -> None:
    filled = dict(zip(fields(INPUTS, PROPOSED), (2, 16, 48, 64), strict=True))
    assert shapes_of(INPUTS, filled) == {"ids": (2, 16), "mask": (2, 16), "image": (2, 3, 48, 64)}


def test_an_unknown_shape_is_asked_for_as_text() -> None:
    (field,) = fields([{"name": "x", "shape": None}], {})
    assert field.is_shape
    assert shapes_of([{"name": "x", "shape": None}], {field: "1x3x8"}) == {"x": (1, 3, 8)}
    with pytest.raises(RequestError, match="'one by three' is no shape for input 'x'"):
        shapes_of([{"name": "x", "shape": None}], {field: "one by three"})


@pytest.mark.parametrize("text", ["1x3x8", "1, 3, 8", " 1 * 3 × 8 "])
def test_shapes_are_read_as_people_write_them(text: str) -> None:
    assert read_shape(text, "x") == (1, 3, 8)


def test_a_proposal_of_nothing_begins_with_one() -> None:
    assert fields([{"name": "x", "shape": ["n"]}], {}) == (Field("n", (("x", 0),), size=1),)


def test_what_is_open_and_how_it_is_told() -> None:
    assert [is_open(spec) for spec in INPUTS] == [True, True, True, False]
    assert told(PROPOSED, only=["ids", "image"]) == "ids 1x32, image 1x3x224x320"
