from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence

import pytest

from core.capability.grid import CapabilityGrid
from core.intake.dataset import Split
from core.intake.model import Serialized
from core.intake.pack import size_of
from core.measure.noise import sqnr_db
from core.measure.outputs import Outputs
from core.progress import Silent
from core.recipe.precision import Precision
from core.recipe.recipe import Rule
from core.search.effort import Effort
from core.search.mixes import Goal, Ingredients
from core.search.optimize import SearchResult, search_mix
from core.search.timing import Timings
from core.store.units import Units
from tests.store.test_units import Shelf
from tests.transform.models import SETTINGS, Bench, model_from_text, random_weights

TEXT = """g (float[1, 32, 24, 24] x) => (float[1, 10] y) {
  a = Conv<pads = [1, 1, 1, 1]>(x, w1)  b = Relu(a)  c = Conv<pads = [1, 1, 1, 1]>(b, w2)  d = Relu(c)
  e = Conv<pads = [1, 1, 1, 1]>(d, w3)  p = GlobalAveragePool(e)  f = Flatten(p)  y = Gemm(f, w4)
}"""
GROUPS = {"conv0", "conv2", "conv4", "gemm7"}


def _bench() -> Bench:
    weights = random_weights(w1=(32, 32, 3, 3), w2=(32, 32, 3, 3), w3=(32, 32, 3, 3), w4=(32, 10))
    return Bench(model_from_text(TEXT, weights), samples=24)


EFFORT = Effort(judges=12, probes=4, solos=4, growths=4, finalists=6)


def _search(
    bench: Bench,
    least_db: float,
    pins: tuple[Rule, ...] = (),
    refuse: bool = False,
    *,
    goal: Goal | None = None,
    effort: Effort = EFFORT,
    units: Units | None = None,
) -> SearchResult:
    def accepts(reference: Sequence[Outputs], got: Sequence[Outputs], noise: float) -> bool:
        return not refuse and sqnr_db(noise) >= least_db

    grid = CapabilityGrid(rows=(), saturates=True)
    ingredients = Ingredients(bench.model, bench.table, bench.ranges, grid.offered(), grid.saturates, SETTINGS, pins)
    return search_mix(
        ingredients,
        bench.data,
        goal=goal or Goal(accepts, 10 ** (-least_db / 10), bench.data.indices(Split.EVALUATION)),
        effort=effort,
        gain_ms=dict.fromkeys(GROUPS, 1.0),
        time_budget_s=5,
        seed=0,
        progress=Silent(),
        units=units,
    )


def test_with_an_easy_target_everything_is_tried_and_the_fastest_taken() -> None:
    result = _search(_bench(), 20.0)
    assert result.lowerable == 4
    assert frozenset(GROUPS) in {point.mix for point in result.front if point.accepted}
    timed = [point for point in result.front if point.latency_ms is not None]
    assert timed
    if result.mix is None:
        assert "the original stays" in result.why
    else:
        assert result.mix in {point.mix for point in timed}


def test_what_is_accepted_keeps_the_target_on_the_evaluation_samples() -> None:
    bench = _bench()
    everything = min(point.sqnr_db for point in _search(bench, 0.0).front)
    result = _search(bench, everything + 2.0)
    accepted = [point for point in result.front if point.accepted]
    assert accepted, "at least one group alone is more faithful than all together"
    assert all(point.sqnr_db >= everything + 2.0 for point in accepted)
    assert frozenset(GROUPS) not in {point.mix for point in accepted}


def test_a_target_that_nothing_keeps_returns_no_mix_and_the_nearest_miss() -> None:
    result = _search(_bench(), 20.0, refuse=True)
    assert result.mix is None
    assert "No mix kept the target" in result.why
    assert "dB" in result.why


def test_a_pinned_layer_is_never_lowered() -> None:
    result = _search(_bench(), 0.0, pins=(Rule("layer:conv2", Precision.FP32),))
    assert all("conv2" not in point.mix for point in result.front)
    assert "conv2" in result.refused


def test_a_model_without_weights_says_so() -> None:
    bench = Bench(model_from_text("g (float[1, 8] x) => (float[1, 8] y) { y = Relu(x) }", {}))
    result = _search(bench, 20.0)
    assert result.mix is None
    assert result.why.startswith("The model has no Conv, Gemm or MatMul")


def test_what_an_earlier_search_has_finished_is_not_done_again_and_the_result_is_the_same() -> None:
    bench, shelf = _bench(), Shelf()
    first, again = Units(shelf, {}), Units(shelf, {})
    one = _search(bench, 20.0, units=first)
    other = _search(bench, 20.0, units=again)
    assert (first.reused, again.computed, again.reused) == (0, 0, first.computed)
    assert other == one
    assert again.spent_s == first.spent_s


def _noisy_timings(original: Serialized, candidates: Mapping[str, Serialized], *_: object, **__: object) -> Timings:
    """Smaller files run faster; no two measurements are the same."""
    sizes = {"": size_of(original), **{name: size_of(data) for name, data in candidates.items()}}
    moods = [random.gauss(0, 0.2) for _ in range(60)]
    return Timings(
        {name: tuple(size * math.exp(mood + random.gauss(0, 0.02)) for mood in moods) for name, size in sizes.items()}
    )


@pytest.mark.parametrize("kept", [1, 3, 5, 7])
def test_a_search_that_was_cut_off_anywhere_ends_like_one_that_was_not(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.search.optimize.quick_timings", _noisy_timings)
    bench, shelf = _bench(), Shelf()
    whole = _search(bench, 24.0, units=Units(shelf, {}))
    cut = Shelf()
    cut.rows = dict(list(shelf.rows.items())[:kept])
    units = Units(cut, {})
    resumed = _search(bench, 24.0, units=units)
    assert units.reused == kept
    assert (resumed.mix, resumed.evaluations, resumed.solo) == (whole.mix, whole.evaluations, whole.solo)
    assert resumed.mix is not None
    assert [point.mix for point in resumed.front] == [point.mix for point in whole.front]


def test_a_spent_budget_ends_the_search_where_it_is_also_when_everything_comes_from_the_store() -> None:
    bench, shelf = _bench(), Shelf()
    _search(bench, 20.0, units=Units(shelf, {}))
    for row in shelf.rows.values():
        row["worked"] = 2.0
    result = _search(bench, 20.0, units=Units(shelf, {}))
    assert len(result.solo) < len(GROUPS), "two thirds of the five seconds are over before the last group"


def test_groups_without_a_score_are_left_out_where_the_target_sets_no_limit_to_the_noise() -> None:
    bench = _bench()
    calls = list[int]()

    def accepts(reference: Sequence[Outputs], got: Sequence[Outputs], noise: float) -> bool:
        calls.append(1)
        return len(calls) > 1  # not everything at once

    goal = Goal(accepts, float("inf"), bench.data.indices(Split.EVALUATION))
    result = _search(bench, 0.0, goal=goal, effort=dataclasses.replace(EFFORT, solos=2, growths=0))
    assert len(result.solo) == 2
    assert all(len(point.mix) <= 2 for point in result.front if point.accepted)
