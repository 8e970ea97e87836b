from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.capability.grid import CapabilityGrid
from core.intake.dataset import Split
from core.measure.outputs import Outputs
from core.progress import Silent
from core.recipe.precision import Precision
from core.recipe.recipe import Rule
from core.search.effort import Effort
from core.search.mixes import Goal, Ingredients
from core.search.optimize import SearchResult, search_mix
from core.measure.noise import sqnr_db
from tests.transform.models import SETTINGS, Bench, model_from_text, random_weights

TEXT = """g (float[1, 32, 24, 24] x) => (float[1, 10] y) {
  a = Conv<pads = [1, 1, 1, 1]>(x, w1)  b = Relu(a)  c = Conv<pads = [1, 1, 1, 1]>(b, w2)  d = Relu(c)
  e = Conv<pads = [1, 1, 1, 1]>(d, w3)  p = GlobalAveragePool(e)  f = Flatten(p)  y = Gemm(f, w4)
}"""
GROUPS = {"conv0", "conv2", "conv4", "gemm7"}


def _bench() -> Bench:
    weights = random_weights(w1=(32, 32, 3, 3), w2=(32, 32, 3, 3), w3=(32, 32, 3, 3), w4=(32, 10))
    return Bench(model_from_text(TEXT, weights), samples=24)


def _search(bench: Bench, least_db: float, pins: tuple[Rule, ...] = (), refuse: bool = False) -> SearchResult:
    def accepts(reference: Sequence[Outputs], got: Sequence[Outputs], noise: float) -> bool:
        return not refuse and sqnr_db(noise) >= least_db

    grid = CapabilityGrid(rows=(), saturates=True)
    ingredients = Ingredients(bench.model, bench.table, bench.ranges, grid.offered(), grid.saturates, SETTINGS, pins)
    return search_mix(
        ingredients,
        bench.data,
        goal=Goal(accepts, 10 ** (-least_db / 10), bench.data.indices(Split.EVALUATION)),
        effort=Effort(judges=12, probes=4, solos=4, growths=4, finalists=6),
        gain_ms=dict.fromkeys(GROUPS, 1.0),
        time_budget_s=20,
        seed=0,
        progress=Silent(),
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


@pytest.mark.parametrize("least_db", [20.0])
def test_the_search_is_repeatable_but_for_time(least_db: float) -> None:
    bench = _bench()
    one, other = _search(bench, least_db), _search(bench, least_db)
    assert {score.group: score.noise for score in one.solo.values()} == {
        score.group: score.noise for score in other.solo.values()
    }
