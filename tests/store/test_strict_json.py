"""Strict JSON: readable by every parser, whatever a measurement holds."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.store.strict_json import plain, to_json


class Kind(StrEnum):
    FAST = "fast"


def no_constants(name: str) -> float:
    pytest.fail(f"{name} is no JSON")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (-math.inf, None),
        (np.float32("nan"), None),
        (np.float64(1.5), 1.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, math.inf]]), [[1.0, None]]),
        ((1, (2, 3)), [1, [2, 3]]),
        ({Kind.FAST: Kind.FAST, 3: True}, {"fast": "fast", "3": True}),
        ({"b", "a"}, ["a", "b"]),
        (Path("/a/b"), "/a/b"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00+00:00"),
    ],
)
def test_a_value_becomes_plain(value: object, expected: object) -> None:
    got = plain(value)
    assert got == expected
    assert type(got) is type(expected)


def test_what_has_no_json_form_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(TypeError, match="complex has no JSON form"):
        plain({"deep": [1j]})


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=10,
    )
)
def test_any_tree_of_values_can_be_read_by_a_strict_parser(value: object) -> None:
    assert json.loads(to_json(value), parse_constant=no_constants) == plain(value)
