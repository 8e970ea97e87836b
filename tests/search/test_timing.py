from __future__ import annotations

import math

import numpy as np
import pytest

from core.search.timing import MARGIN, Timings, quick_run_ms, quick_timings
from tests.transform.models import SETTINGS, Bench, model_from_text, random_weights


def _timings(noise: float = 0.01, seed: int = 0, rounds: int = 60, **slower: float) -> Timings:
    """Synthetic rounds: every model takes so many times as long as the fastest; the original 2 ms."""
    chance = np.random.default_rng(seed)
    mood = chance.normal(0, 0.2, rounds)  # what the machine does to all of a round
    times = {"": 2.0, **slower}
    return Timings(
        {name: tuple(1e6 * ms * np.exp(mood + chance.normal(0, noise, rounds))) for name, ms in times.items()}
    )


def test_of_models_that_run_about_as_fast_the_first_in_the_order_is_chosen_whatever_the_noise() -> None:
    chosen = {_timings(a=1.0, b=0.98, c=1.01, seed=seed).choose(["a", "b", "c"]) for seed in range(30)}
    assert chosen == {"a"}


def test_one_that_is_clearly_faster_is_chosen_whatever_the_noise() -> None:
    chosen = {_timings(a=1.0, b=0.9, c=0.89, seed=seed).choose(["a", "b", "c"]) for seed in range(30)}
    assert chosen == {"b"}


def test_where_nothing_can_be_told_the_order_decides() -> None:
    chosen = {_timings(a=1.0, b=0.93, noise=0.5, rounds=8, seed=seed).choose(["a", "b"]) for seed in range(30)}
    assert chosen == {"a"}


def test_rounds_go_on_while_a_call_is_close() -> None:
    assert _timings(a=1.0, b=0.8).is_settled()
    assert not _timings(a=1.0, b=math.exp(-MARGIN)).is_settled()
    assert not _timings(a=2.0 / 1.02).is_settled(), "is it worth anything?"
    assert _timings(a=2.5).is_settled()


def test_the_ratio_is_that_to_the_original_and_kept_exactly() -> None:
    timings = _timings(a=1.0)
    assert timings.ratio("a").ratio == pytest.approx(2.0, rel=0.01)
    again = Timings.from_dict(timings.to_dict())
    assert again.ratio("a") == timings.ratio("a")


def test_real_models_are_timed_against_the_original() -> None:
    weights = random_weights(w=(64, 64))
    bench = Bench(model_from_text("g (float[1, 64] x) => (float[1, 64] y) { y = MatMul(x, w) }", weights))
    data = bench.model.serialize()
    feeds = [bench.data.feed(0), bench.data.feed(1)]
    timings = quick_timings(data, {"same": data}, feeds, SETTINGS, budget_s=0.2, seed=0)
    assert set(timings.rounds) == {"", "same"}
    assert all(one > 0 for spent in timings.rounds.values() for one in spent)
    assert len(timings.rounds[""]) == len(timings.rounds["same"]) >= 2
    assert quick_run_ms(data, feeds, SETTINGS) > 0
