"""Documents carry version, seconds and conditions, and hold nothing that JSON cannot say."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

import core
from core.runtime.settings import SessionSettings
from core.tasks.documents import complete, to_plain


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (float("nan"), None),
        (float("inf"), None),
        (np.float32(1.5), 1.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.float64("nan"), None),
        ((1, 2), [1, 2]),
        ({"a": {1: (float("-inf"),)}}, {"a": {"1": [None]}}),
        (Colour.RED, "red"),
        (True, True),
        (None, None),
    ],
)
def test_values_become_plain_json(value: Any, plain: Any) -> None:
    made = to_plain(value)
    assert made == plain
    assert type(made) is type(plain)
    json.dumps(made, allow_nan=False)


def test_what_has_no_place_in_json_is_a_defect() -> None:
    with pytest.raises(TypeError, match="object has no place"):
        to_plain(object())


def test_every_document_is_completed() -> None:
    document = complete({"answer": 1}, settings=SessionSettings(threads=2), batch=3, seed=4, seconds=0.12345)
    assert document["mixdesk"] == core.__version__
    assert document["seconds"] == 0.123
    conditions = document["conditions"]
    assert (conditions["threads"], conditions["batch"], conditions["seed"]) == (2, 3, 4)


def test_conditions_of_the_measurement_itself_stay() -> None:
    document = complete({"conditions": {"load_average": 9.0}}, settings=SessionSettings(), batch=1, seed=0, seconds=1)
    assert document["conditions"] == {"load_average": 9.0}
