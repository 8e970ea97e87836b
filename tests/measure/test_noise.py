from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import RunError
from core.measure.noise import noise_of, sqnr_db, weighted_db


def test_noise_is_relative_power_over_all_samples_and_the_worst_output_rules() -> None:
    reference = [{"a": np.array([3.0, 4.0]), "b": np.array([1.0])}, {"a": np.array([0.0, 5.0]), "b": np.array([1.0])}]
    got = [{"a": np.array([3.0, 4.5]), "b": np.array([1.0])}, {"a": np.array([0.0, 5.0]), "b": np.array([1.5])}]
    assert noise_of(reference, got) == pytest.approx(0.25 / 2.0)
    assert sqnr_db(noise_of(reference, got)) == pytest.approx(-10 * math.log10(0.125))


def test_identical_is_capped_at_200_db() -> None:
    outputs = [{"a": np.array([1.0])}]
    assert sqnr_db(noise_of(outputs, outputs)) == 200


def test_a_candidate_that_gives_nan_is_infinitely_noisy() -> None:
    assert noise_of([{"a": np.array([1.0])}], [{"a": np.array([np.nan])}]) == math.inf
    assert sqnr_db(math.inf) == -math.inf


def test_integer_outputs_do_not_count_and_nan_of_the_original_is_left_out() -> None:
    reference = [{"n": np.array([1]), "a": np.array([np.nan, 2.0])}]
    assert noise_of(reference, [{"n": np.array([9]), "a": np.array([0.0, 2.0])}]) == 0


def test_an_output_that_changed_its_shape_is_an_error() -> None:
    with pytest.raises(RunError, match="changed its shape"):
        noise_of([{"a": np.zeros(2)}], [{"a": np.zeros(3)}])


def test_only_the_chosen_outputs_count_each_with_its_weight() -> None:
    reference = [{"a": np.array([1.0]), "b": np.array([2.0])}]
    got = [{"a": np.array([1.5]), "b": np.array([3.0])}]
    assert noise_of(reference, got) == pytest.approx(0.25)
    assert noise_of(reference, got, weights={"b": 3.0}) == pytest.approx(0.75)
    assert noise_of(reference, got, weights={"a": 0.1, "b": 0.2}) == pytest.approx(0.05)


def test_weights_move_the_sqnr_by_their_decibels_and_leave_identical_alone() -> None:
    assert weighted_db(30.0, 10.0) == pytest.approx(20.0)
    assert weighted_db(30.0, 1.0) == pytest.approx(30.0)
    assert weighted_db(200.0, 10.0) == 200.0
