from __future__ import annotations

import pytest

from core.search.effort import final_s, plan_effort, planned_gains, planned_run_ms, settled_run_ms
from tests.search.test_optimize import GROUPS
from tests.transform.models import Bench, model_from_text, random_weights

TEXT = """g (float[1, 32, 24, 24] x) => (float[1, 10] y) {
  a = Conv<pads = [1, 1, 1, 1]>(x, w1)  b = Relu(a)  c = Conv<pads = [1, 1, 1, 1], group = 32>(b, w2)  d = Relu(c)
  e = Conv<pads = [1, 1, 1, 1]>(d, w3)  p = GlobalAveragePool(e)  f = Flatten(p)  y = Gemm(f, w4)
}"""


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(
        model_from_text(TEXT, random_weights(w1=(32, 32, 3, 3), w2=(32, 1, 3, 3), w3=(32, 32, 3, 3), w4=(32, 10)))
    )


def test_the_planned_cost_grows_with_the_work_and_falls_with_threads(bench: Bench) -> None:
    one = planned_run_ms(bench.table, threads=1, wide=False)
    assert (
        one > planned_run_ms(bench.table, threads=2, wide=False) > planned_run_ms(bench.table, threads=2, wide=True) > 0
    )


def test_two_measurements_that_differ_as_they_do_settle_the_same_cost() -> None:
    assert {settled_run_ms(10.0, measured) for measured in (4.5, 7.0, 10.0, 15.0, 22.0)} == {10.0}


def test_a_cost_that_is_far_off_is_corrected() -> None:
    assert settled_run_ms(10.0, 600.0) == pytest.approx(360.0)
    assert settled_run_ms(10.0, 1.0) == pytest.approx(10.0 / 6)
    assert settled_run_ms(0.0, 3.0) == 3.0


def test_dense_layers_promise_more_than_depthwise_ones(bench: Bench) -> None:
    gains = planned_gains(bench.table)
    assert gains["conv0"] > 20 * gains["conv2"] > 0
    assert gains["conv4"] == pytest.approx(gains["conv0"])


def test_a_fast_model_gets_all_samples_and_a_slow_one_the_fewest(bench: Bench) -> None:
    fast = plan_effort(bench.table, sorted(GROUPS), run_ms=0.01, budget_s=120)
    assert (fast.judges, fast.probes, fast.solos, fast.growths, fast.finalists) == (200, 16, 4, 4, 6)
    slow = plan_effort(bench.table, [f"g{n}" for n in range(100)], run_ms=5000.0, budget_s=120)
    assert (slow.judges, slow.probes, slow.growths) == (8, 2, 0)
    assert 4 <= slow.solos < 20
    assert slow.finalists == 3


def test_the_last_comparison_of_a_slow_model_needs_time_for_every_sample() -> None:
    assert final_s(100, 1000.0) > 200
