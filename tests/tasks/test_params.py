"""Parameters are read from a job's JSON, and wrong ones refused in one line."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import RequestError
from core.tasks.params import Subject, read_seconds, read_text, read_whole


def test_defaults_are_those_under_which_speed_ups_are_reported() -> None:
    subject = Subject.read({"model": "a" * 64})
    assert (subject.threads, subject.batch, subject.seed, subject.data) == (1, 1, 0, None)
    assert subject.settings.threads == 1
    assert not subject.settings.spinning


def test_everything_given_is_kept() -> None:
    given = {
        "model": "m",
        "data": "d",
        "data_name": "eval",
        "threads": 2,
        "batch": 4,
        "seed": 7,
        "shapes": {"x": [1, 3]},
    }
    subject = Subject.read(given)
    assert (subject.data, subject.data_name, subject.threads, subject.batch, subject.seed) == ("d", "eval", 2, 4, 7)
    assert subject.shapes == {"x": (1, 3)}


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"model": ""},
        {"model": 3},
        {"model": "m", "threads": 0},
        {"model": "m", "threads": True},
        {"model": "m", "batch": 1.5},
        {"model": "m", "seed": -1},
        {"model": "m", "data": ["d"]},
        {"model": "m", "shapes": [1, 3]},
        {"model": "m", "shapes": {"x": "1x3"}},
        {"model": "m", "shapes": {"x": [1, -3]}},
        {"model": "m", "shapes": {"x": [True]}},
    ],
)
def test_a_wrong_parameter_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        Subject.read(wrong)


@pytest.mark.parametrize("wrong", [0, -1, "ten", True, float("inf"), float("nan")])
def test_seconds_are_positive_and_finite(wrong: Any) -> None:
    with pytest.raises(RequestError, match="time_budget_s"):
        read_seconds({"time_budget_s": wrong}, "time_budget_s", default=1.0)


def test_absent_values_are_the_defaults() -> None:
    assert read_seconds({}, "time_budget_s", default=2.5) == 2.5
    assert read_whole({"runs": None}, "runs", default=3, least=1) == 3
    assert read_text({"target": ""}, "target") is None
