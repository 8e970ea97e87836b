from __future__ import annotations

from collections import Counter

import pytest

from core.graph.read import read_layers
from core.measure.events import KernelEvent, RunEvents
from core.measure.instrumented import Plan
from core.measure.kernel_times import typical_times
from core.measure.profile import Given, choose_feeds, measure
from core.measure.profiler_cost import ProfilerCost
from core.measure.rounds import Round, join_rounds
from core.measure.so_far import SoFar
from core.progress import Silent
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings
from tests.measure.data import convolutions

SETTINGS = SessionSettings()
SHAPES = ((4,), (4,))
INSIDE, OUTSIDE = 4.0, 5.0


def _run(true_us: dict[str, float], mood: float = 1.0) -> RunEvents:
    """A run under the profiler; a machine that is slower makes kernels and profiler slower."""
    own = {name: mood * (us + INSIDE) for name, us in true_us.items()}
    kernels = tuple(KernelEvent(name, "Conv", None, us, 0, SHAPES, ((4,),), span_us=us) for name, us in own.items())
    return RunEvents(sum(own.values()) + mood * len(own) * OUTSIDE, kernels)


def _joined(runs: list[RunEvents], costs: list[ProfilerCost]) -> Round:
    rounds = [Round(typical_times([run]), cost) for run, cost in zip(runs, costs, strict=True)]
    return join_rounds(rounds, typical_times(runs))


def _shares(joined: Round) -> dict[str, float]:
    left = {kernel.event.name: joined.cost.without(kernel) for kernel in joined.times.kernels}
    return {name: us / sum(left.values()) for name, us in left.items()}


TRUE = {"a": 2.0, "b": 50.0, "c": 48.0}


def test_one_opening_with_an_unlucky_place_does_not_move_the_shares() -> None:
    runs = [_run(TRUE), _run({**TRUE, "b": 90.0}), _run(TRUE)]
    assert _shares(_joined(runs, [ProfilerCost(INSIDE, OUTSIDE)] * 3)) == pytest.approx(
        {"a": 0.02, "b": 0.50, "c": 0.48}
    )


def test_each_round_is_freed_of_the_cost_that_the_profiler_had_in_it() -> None:
    moods = [1.0, 1.5, 2.0]
    joined = _joined([_run(TRUE, mood) for mood in moods], [ProfilerCost(INSIDE * m, OUTSIDE * m) for m in moods])
    assert _shares(joined) == pytest.approx({"a": 0.02, "b": 0.50, "c": 0.48})


def test_one_round_with_a_wrong_cost_does_not_move_short_kernels() -> None:
    costs = [ProfilerCost(INSIDE, OUTSIDE), ProfilerCost(5.4, 3.6), ProfilerCost(INSIDE, OUTSIDE)]
    assert _shares(_joined([_run(TRUE)] * 3, costs))["a"] == pytest.approx(0.02)


def test_kernels_and_gap_add_up_to_the_typical_run() -> None:
    runs = [_run(TRUE), _run({**TRUE, "a": 9.0}, 1.4), _run({**TRUE, "c": 70.0}, 0.8)]
    times, cost = _joined(runs, [ProfilerCost(INSIDE, OUTSIDE)] * 3)
    assert times.kernel_us + times.gap_us == pytest.approx(times.run_us)
    assert times.run_us == pytest.approx(typical_times(runs).run_us)
    assert all(0 < cost.without(kernel) <= kernel.own_us for kernel in times.kernels)


def test_a_branch_of_one_round_keeps_its_mean_share() -> None:
    runs = [_run(TRUE), _run(TRUE), _run({**TRUE, "rare": 30.0})]
    share = _shares(_joined(runs, [ProfilerCost(INSIDE, OUTSIDE)] * 3))["rare"]
    mean = 30 / 130 / 3
    assert share == pytest.approx(mean / (1 + mean))


def test_a_single_round_stays_as_it_is() -> None:
    alone = Round(typical_times([_run(TRUE)]), ProfilerCost(INSIDE, OUTSIDE))
    assert join_rounds([alone], alone.times) is alone


@pytest.mark.parametrize(
    ("runs", "opening_s", "rounds"),
    [(None, 0.01, 7), (None, 0.5, 3), (None, 2.0, 1), (12, 0.01, 3), (3, 0.01, 1)],
)
def test_opening_again_takes_two_fifths_of_the_time_at_most(runs: int | None, opening_s: float, rounds: int) -> None:
    assert Plan(runs, 0, float).rounds(opening_s) == rounds


def test_the_rounds_together_make_the_runs_that_were_asked_for() -> None:
    plan = Plan(32, 0, float)
    parts = [plan.of_round(number, 7, 0.0) for number in range(7)]
    assert sum(part.runs or 0 for part in parts) == 32
    assert all(part.fewest in {part.runs, 5} for part in parts)


def test_a_profile_opens_the_sessions_several_times_and_tells_all_runs() -> None:
    model, data = convolutions()
    table = read_layers(model)
    given = Given(model, table, choose_feeds(data, 1), SETTINGS)
    measured = measure(given, Plan(40, 0, _standing), Silent(), SoFar(Silent(), read_conditions(SETTINGS)))
    counts = Counter(both.round for both in measured.timed)
    assert len(measured.probes) == len(counts) > 1
    assert sum(counts.values()) == len(measured.every_run) == 40
    names = {frozenset(kernel.name for kernel in run.kernels) for run in measured.every_run}
    assert len(names) == 1
    for both, run in zip(measured.timed, measured.every_run, strict=True):
        assert run.wall_us <= both.tagged.ns / 1e3 + 2


def _standing() -> float:
    return 0.0
