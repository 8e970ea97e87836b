from __future__ import annotations

import math

import numpy as np
import pytest

from core.errors import DataError
from core.measure.fidelity import IDENTICAL_DB, Fidelity, fidelity
from core.measure.noise import noise_of, sqnr_db

Sample = dict[str, np.ndarray]


def _one(*arrays: np.ndarray, name: str = "y") -> list[Sample]:
    return [{name: np.asarray(array)} for array in arrays]


def _row(*values: float) -> np.ndarray:
    return np.array([values], np.float32)


def test_sqnr_sums_over_samples_before_it_divides() -> None:
    found = fidelity(_one(_row(3, 0), _row(0, 4)), _one(_row(2, 0), _row(0, 4)))
    assert found.sqnr_db == pytest.approx(10 * math.log10(25 / 1))
    assert found.max_abs_error == pytest.approx(1)


def test_identical_outputs_have_the_cap() -> None:
    found = fidelity(_one(_row(1, 2)), _one(_row(1, 2)))
    assert (found.sqnr_db, found.kl, found.agreement) == (IDENTICAL_DB, 0, 1)
    assert found.cosine == pytest.approx(1)


def test_the_worst_output_rules_each_figure() -> None:
    reference = [{"a": _row(1, 2), "b": _row(10, 0)}]
    got = [{"a": _row(1, 1), "b": _row(10, 0.1)}]
    both = fidelity(reference, got)
    assert both.sqnr_db == fidelity(reference, got, outputs=["a"]).sqnr_db
    assert both.sqnr_db != fidelity(reference, got, outputs=["b"]).sqnr_db
    assert both.max_abs_error == pytest.approx(1)


def test_a_weight_says_how_often_the_noise_of_an_output_counts() -> None:
    reference, got = [{"a": _row(1, 2), "b": _row(10, 0)}], [{"a": _row(1, 1), "b": _row(10, 0.1)}]
    plain = {output.name: output.sqnr_db for output in fidelity(reference, got).outputs}
    assert plain["a"] is not None
    assert plain["b"] is not None
    doubled = fidelity(reference, got, outputs={"a": 2.0, "b": 1.0})
    assert doubled.sqnr_db == pytest.approx(plain["a"] - 10 * math.log10(2))
    turned = fidelity(reference, got, outputs={"a": 1e-6, "b": 1.0})
    assert turned.sqnr_db == pytest.approx(plain["b"]), "now b is the worst"
    assert [(o.name, o.weight, o.sqnr_db) for o in turned.outputs] == [("a", 1e-6, plain["a"]), ("b", 1.0, plain["b"])]
    assert doubled.sqnr_bound_db(seed=0) == pytest.approx(doubled.sqnr_db)
    assert doubled.unchanged().sqnr_db == IDENTICAL_DB


def test_what_the_noise_says_and_what_the_fidelity_says_are_the_same() -> None:
    chance = np.random.default_rng(0)
    reference = [{"a": chance.normal(size=(1, 3)), "b": chance.normal(size=(1, 4))} for _ in range(5)]
    got = [{name: array + 0.1 for name, array in sample.items()} for sample in reference]
    for weights in (None, {"a": 1.0, "b": 3.0}, {"b": 2.0}):
        found = fidelity(reference, got, outputs=weights)
        assert found.sqnr_db == pytest.approx(sqnr_db(noise_of(reference, got, weights=weights)))


def test_an_output_whose_length_varies_is_a_signal_and_chooses_no_class() -> None:
    varying = _one(_row(1, 2, 3), _row(1, 2))
    found = fidelity(varying, varying)
    assert (found.agreement, found.kl, found.sqnr_db) == (None, None, IDENTICAL_DB)


def test_a_state_beside_scores_does_not_count_as_an_answer() -> None:
    reference = [{"y": _row(0, 3), "state": _row(1, 2, 3)}]
    got = [{"y": _row(0, 2), "state": _row(3, 2, 1)}]
    assert fidelity(reference, got).agreement == 0
    found = fidelity(reference, got, input_shapes={(1, 3)})
    assert found.agreement == 1
    assert [output.agreement for output in found.outputs] == [1, None]


def test_agreement_is_the_share_of_samples_with_the_same_top_answer() -> None:
    found = fidelity(_one(*[_row(1, 2)] * 4), _one(_row(1, 2), _row(0, 9), _row(3, 2), _row(1, 1.5)))
    assert found.agreement == pytest.approx(0.75)
    assert found.disagreements == 1


def test_a_sample_agrees_only_where_all_outputs_do() -> None:
    reference = [{"a": _row(0, 1), "b": np.array([3])}] * 2
    got = [{"a": _row(0, 1), "b": np.array([4])}, {"a": _row(0, 1), "b": np.array([3])}]
    assert fidelity(reference, got).agreement == pytest.approx(0.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_longer_finite_are_worse_than_any_number(bad: float) -> None:
    found = fidelity(_one(_row(1, 2), _row(1, 2)), _one(_row(1, 2), _row(bad, 2)))
    assert found.broken
    assert found.sqnr_db is None
    assert found.why is not None
    assert "not finite" in found.why
    assert found.agreement == pytest.approx(0.5)


def test_where_the_original_is_not_finite_either_nothing_is_broken() -> None:
    found = fidelity(_one(_row(np.inf, 2)), _one(_row(np.inf, 2)))
    assert not found.broken
    assert found.sqnr_db == IDENTICAL_DB


def test_another_shape_is_told_in_words() -> None:
    found = fidelity(_one(np.zeros((1, 3, 3), np.float32)), _one(np.zeros((1, 3, 4), np.float32)))
    assert found.broken
    assert found.why is not None
    assert "shape [1, 3, 4]" in found.why


def test_without_floats_there_is_no_sqnr_and_a_reason() -> None:
    found = fidelity(_one(np.array([1])), _one(np.array([1])))
    assert (found.sqnr_db, found.agreement, found.broken) == (None, 1, False)
    assert found.why == "no output holds floating-point numbers"


def test_a_silent_reference_does_not_divide_by_zero() -> None:
    found = fidelity(_one(np.zeros((1, 2, 2), np.float32)), _one(np.ones((1, 2, 2), np.float32)))
    assert found.sqnr_db == -IDENTICAL_DB


def test_generators_serve_as_well() -> None:
    found = fidelity((item for item in _one(_row(1, 2))), (item for item in _one(_row(1, 3))))
    assert found.samples == 1


def test_an_unknown_output_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(DataError, match="Did you mean 'logits'"):
        fidelity([{"logits": _row(1)}], [{"logits": _row(1)}], outputs=["logit"])


def _noisy(seed: int, count: int = 60) -> Fidelity:
    chance = np.random.default_rng(seed)
    reference = [chance.normal(size=(1, 6)).astype(np.float32) for _ in range(count)]
    got = [array + 0.1 * chance.normal(size=array.shape).astype(np.float32) for array in reference]
    return fidelity(_one(*reference), _one(*got))


def test_the_bound_is_below_the_estimate_and_near_it() -> None:
    found = _noisy(0)
    bound = found.sqnr_bound_db(seed=1)
    assert found.sqnr_db is not None
    assert bound is not None
    assert found.sqnr_db - 2 < bound < found.sqnr_db
    assert found.sqnr_bound_db(seed=1) == bound


def test_the_bound_covers_the_truth_about_as_often_as_it_says() -> None:
    below = sum((_noisy(seed).sqnr_bound_db(seed=0) or 0.0) < 20.0 for seed in range(60))
    assert below >= 60 * 0.85


def test_unchanged_means_identical_whatever_the_candidate_was() -> None:
    for found in (_noisy(0), fidelity(_one(_row(1, 2)), _one(_row(np.nan, 2)))):
        same = found.unchanged()
        assert (same.sqnr_db, same.agreement, same.broken) == (IDENTICAL_DB, 1, False)
        assert same.sqnr_bound_db(seed=0) == IDENTICAL_DB
