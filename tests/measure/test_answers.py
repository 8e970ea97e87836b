from __future__ import annotations

import numpy as np
import pytest

from core.measure.answers import divergence, read_alike, read_answers, same_answer


@pytest.mark.parametrize("shape", [(5,), (1, 5), (1, 1, 5), (5, 1, 1), (1, 5, 1, 1)])
def test_one_row_of_scores_chooses_one_class(shape: tuple[int, ...]) -> None:
    answers = read_answers(np.array([0, 1, 7, 2, 3], np.float32).reshape(shape))
    assert answers is not None
    assert answers.chosen.tolist() == [2]
    assert answers.probabilities is not None
    assert answers.probabilities.sum() == pytest.approx(1)


def test_scores_that_are_probabilities_already_stay_as_they_are() -> None:
    answers = read_answers(np.array([[0.2, 0.8]], np.float32))
    assert answers is not None
    assert answers.probabilities is not None
    np.testing.assert_allclose(answers.probabilities, [[0.2, 0.8]], atol=1e-7)


def test_probabilities_at_every_position_choose_a_class_each() -> None:
    answers = read_answers(np.array([[[0.1, 0.9], [0.7, 0.3]]], np.float32))
    assert answers is not None
    assert answers.chosen.tolist() == [1, 0]


def test_a_single_probability_is_a_yes_or_no() -> None:
    for value, expected in ((0.2, 0), (0.5, 1), (0.9, 1)):
        answers = read_answers(np.array([[value]], np.float32))
        assert answers is not None
        assert answers.chosen.tolist() == [expected]


@pytest.mark.parametrize(
    "output",
    [
        np.ones((1, 3, 4), np.float32),
        np.array([[3.0]], np.float32),
        np.array([[1.0, np.nan]], np.float32),
        np.zeros((0, 4), np.float32),
        np.arange(5, dtype=np.float32).reshape(1, 1, 1, 5),
        np.arange(5, dtype=np.float32).reshape(1, 5, 1),
        np.array([[0.6, 0.0, -0.8]], np.float32),
    ],
    ids=["positions", "one score", "not finite", "empty", "an image's row", "a number per position", "an embedding"],
)
def test_what_is_no_row_of_scores_chooses_nothing(output: np.ndarray) -> None:
    assert read_answers(output) is None


def test_a_row_of_the_shape_of_an_input_is_a_state_unless_it_is_a_distribution() -> None:
    state, chances = np.array([[0.5, -3.0, 2.0]], np.float32), np.array([[0.2, 0.5, 0.3]], np.float32)
    assert read_answers(state) is not None
    assert read_answers(state, input_shapes={(1, 3)}) is None
    assert read_answers(chances, input_shapes={(1, 3)}) is not None


def test_the_candidate_is_read_as_the_original_was() -> None:
    chances = read_answers(np.array([[0.2, 0.8]]))
    assert chances is not None
    worse = read_alike(np.array([[0.3, 0.9]]), chances)
    assert worse is not None
    assert worse.probabilities is not None
    np.testing.assert_allclose(worse.probabilities, np.array([[0.3, 0.9]]))  # no softmax, though the sum is not 1
    scores = read_answers(np.array([[1.0, 5.0]]))
    assert scores is not None
    alike = read_alike(np.array([[0.0, 1.0]]), scores)  # would be a distribution by itself
    assert alike is not None
    assert alike.probabilities is not None
    assert 0.7 < alike.probabilities[0, 1] < 0.75
    assert read_alike(np.array([[np.nan, 1.0]]), scores) is None
    assert read_alike(np.array([[1.0, 2.0, 3.0]]), scores) is None
    yes = read_answers(np.array([[0.6]]))
    assert yes is not None
    no = read_alike(np.array([[-0.1]]), yes)
    assert no is not None
    assert no.chosen.tolist() == [0]


def test_integers_and_texts_are_answers_as_they_are() -> None:
    for output in (np.array([3, 1]), np.array(["cat", "dog"])):
        answers = read_answers(output)
        assert answers is not None
        assert same_answer(answers, answers)
        assert divergence(answers, answers) is None


def test_the_divergence_is_kullback_and_leiblers() -> None:
    p, q = np.array([0.5, 0.5]), np.array([0.9, 0.1])
    before, after = read_answers(p[None]), read_answers(q[None])
    assert before is not None
    assert after is not None
    assert divergence(before, after) == pytest.approx(float(np.sum(p * np.log(p / q))))
    assert divergence(before, before) == 0
