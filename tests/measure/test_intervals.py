from __future__ import annotations

import numpy as np
import pytest

from core.measure.intervals import in_blocks, mean_ci95, paired_change, percentiles, ratio_draws, upper_share


def test_the_exact_bound_of_nothing_seen_is_the_rule_of_three() -> None:
    assert upper_share(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert upper_share(0, 300) == pytest.approx(3 / 300, rel=0.02)


@pytest.mark.parametrize(("count", "total"), [(0, 10), (3, 40), (20, 100)])
def test_the_exact_bound_is_where_so_few_have_five_percent(count: int, total: int) -> None:
    from scipy import stats

    assert stats.binom.cdf(count, total, upper_share(count, total)) == pytest.approx(0.05)


def test_without_samples_or_with_all_of_them_the_bound_is_one() -> None:
    assert upper_share(0, 0) == 1
    assert upper_share(5, 5) == 1


def test_a_change_without_flips_has_an_interval_around_zero() -> None:
    low, high = paired_change(0, 0, 200)
    assert low < 0 < high < 0.02


def test_blocks_hold_every_position_once_in_order() -> None:
    for count in (1, 5, 40, 203):
        blocks = in_blocks(count)
        assert np.concatenate(blocks).tolist() == list(range(count))
        assert len(blocks) <= 40


def test_the_interval_of_a_mean_holds_it_about_as_often_as_it_says() -> None:
    chance = np.random.default_rng(0)
    held = 0
    for turn in range(100):
        low, high = mean_ci95(chance.normal(10, 2, size=200), seed=turn)
        held += low <= 10 <= high
    assert held >= 86


def test_the_interval_of_a_ratio_holds_it_about_as_often_as_it_says() -> None:
    chance = np.random.default_rng(1)
    held = 0
    for turn in range(100):
        before, after = chance.gamma(50, 0.4, size=120), chance.gamma(50, 0.2, size=120)
        low, high = percentiles(ratio_draws(before, after, seed=turn))
        held += low <= 2 <= high
    assert held >= 86


def test_moods_that_last_longer_than_a_pair_widen_the_interval() -> None:
    chance = np.random.default_rng(2)
    after = chance.normal(1, 0.02, size=400)
    moods = np.repeat(chance.choice([1.0, 1.5], size=40), 10)
    shuffled = chance.permutation(moods)
    lasting = percentiles(ratio_draws(moods, after, seed=0))
    passing = percentiles(ratio_draws(shuffled, after, seed=0))
    assert lasting[1] - lasting[0] > 1.5 * (passing[1] - passing[0])


def test_equal_seeds_give_equal_intervals() -> None:
    values = np.arange(1.0, 60.0)
    assert mean_ci95(values, seed=4) == mean_ci95(values, seed=4)
