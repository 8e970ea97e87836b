from __future__ import annotations

import numpy as np
import pytest

from core.measure.accuracy import Accuracy, accuracy

Sample = dict[str, np.ndarray]


def _logits(*answers: int, classes: int = 3) -> list[Sample]:
    return [{"y": np.eye(classes, dtype=np.float32)[answer][None]} for answer in answers]


def test_top_1_is_counted_before_and_after_on_the_same_samples() -> None:
    found = accuracy(np.array([0, 1, 2, 0]), range(4), _logits(0, 1, 2, 1), _logits(0, 2, 2, 0))
    assert (found.metric, found.before, found.after) == ("top-1", 0.75, 0.75)
    assert (found.harmful, found.helpful, found.samples) == (1, 1, 4)


def test_labels_are_those_of_the_samples_that_were_run() -> None:
    found = accuracy(np.array([9, 9, 2, 1]), [2, 3], _logits(2, 1), _logits(2, 1))
    assert found.after == 1


def test_probabilities_of_yes_are_judged_against_zero_and_one() -> None:
    outputs = [{"p": np.array([[value]], np.float32)} for value in (0.9, 0.2)]
    assert accuracy(np.array([1, 1]), range(2), outputs, outputs).after == 0.5


def test_outputs_of_labels_are_judged_as_they_are() -> None:
    outputs = [{"label": np.array([value])} for value in (4, 7)]
    assert accuracy(np.array([4, 7]), range(2), outputs, outputs).after == 1


def test_the_output_that_fits_the_labels_is_found_among_others() -> None:
    outputs = [{"map": np.ones((1, 2, 3), np.float32), "y": np.array([[0, 1]], np.float32)}]
    assert accuracy(np.array([1]), [0], outputs, outputs).after == 1


@pytest.mark.parametrize(
    ("labels", "outputs", "why"),
    [
        (None, _logits(0), "no labels"),
        (np.array([0.37]), _logits(0), "not classes"),
        (np.array([7]), _logits(0), "no output"),
        (np.array(["cat"]), _logits(0), "no output"),
        (np.array([0]), [{"map": np.ones((1, 2, 3), np.float32)}], "no output"),
    ],
)
def test_where_there_is_none_it_says_why(labels: np.ndarray | None, outputs: list[Sample], why: str) -> None:
    found = accuracy(labels, [0], outputs, outputs)
    assert found.before is None
    assert found.why is not None
    assert why in found.why
    assert found.lower_bound is None


def test_an_answer_that_is_no_longer_finite_is_wrong() -> None:
    found = accuracy(np.array([0]), [0], _logits(0), [{"y": np.full((1, 3), np.nan, np.float32)}])
    assert (found.before, found.after, found.harmful) == (1, 0, 1)


def test_the_interval_of_the_change_holds_it_and_is_never_certain() -> None:
    found = accuracy(np.zeros(50, int), range(50), _logits(*[0] * 50), _logits(*[1] * 5, *[0] * 45))
    assert found.ci95_change is not None
    low, high = found.ci95_change
    assert low < -0.1 < high < 0
    same = accuracy(np.zeros(50, int), range(50), _logits(*[0] * 50), _logits(*[0] * 50))
    assert same.ci95_change is not None
    assert same.ci95_change[0] < 0 < same.ci95_change[1]


def test_with_300_right_answers_and_no_flip_the_bound_is_just_above_99_percent() -> None:
    found = Accuracy("top-1", 1.0, 1.0, (0, 0), harmful=0, helpful=0, samples=300)
    assert found.lower_bound == pytest.approx(0.05 ** (1 / 300))
    one = Accuracy("top-1", 1.0, 299 / 300, (0, 0), harmful=1, helpful=0, samples=300)
    assert one.lower_bound is not None
    assert one.lower_bound < 0.99
