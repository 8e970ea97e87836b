from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from core.errors import DataError, StoppedError
from core.measure import paired
from core.measure.calm import Timed
from core.measure.paired import AGAIN, CANDIDATE, ORIGINAL, measure_pair
from core.progress import Silent
from core.runtime.settings import SessionSettings
from tests.measure.data import classifier, samples

SETTINGS = SessionSettings()


class FakeMachine:
    """Children that take made-up times on a made-up clock; `calls` is who ran, in order.

    `disturbed` is the chance that another process takes the processor within 10 ms: long runs wait more often.
    """

    def __init__(self, milliseconds: Mapping[str, float], *, spread: float = 0.05, disturbed: float = 0.0) -> None:
        self.now = 0.0
        self.calls: list[tuple[str, int]] = []
        self.feeds: list[Any] = []
        self._chance = np.random.default_rng(0)
        self._milliseconds = milliseconds
        self._spread = spread
        self._disturbed = disturbed

    def clock(self) -> float:
        return self.now

    def take(self, name: str, unit: int, runs: int) -> Timed:
        cpu_ms = self._milliseconds[name] * self._chance.normal(1, self._spread)
        disturbed = bool(self._chance.random() < 1 - (1 - self._disturbed) ** (cpu_ms / 10))
        ms = cpu_ms + self._chance.exponential(100) * disturbed
        self.now += runs * ms / 1e3
        self.calls.append((name, unit))
        return Timed(1e6 * ms, 1e6 * cpu_ms, disturbed)

    @contextmanager
    def open(self, models: Mapping[str, Any], feeds: Sequence[Any], settings: SessionSettings) -> Any:
        self.feeds = list(feeds)
        yield {name: FakeChild(self, name) for name in models}


class FakeChild:
    def __init__(self, machine: FakeMachine, name: str) -> None:
        self._machine = machine
        self._name = name

    def run(self, unit: int, *, warm: int = 0, times: int = 1) -> Timed:
        return self._machine.take(self._name, unit, warm + times)

    def peak_bytes(self) -> int:
        return 200 if self._name == ORIGINAL else 100


def _measure(monkeypatch: pytest.MonkeyPatch, machine: FakeMachine, **options: Any) -> Any:
    monkeypatch.setattr(paired, "open_children", machine.open)
    given: dict[str, Any] = {"settings": SETTINGS, "clock": machine.clock, **options}
    data = given.pop("data", samples(20))
    return measure_pair(b"original", b"candidate", data, given.pop("indices", range(20)), **given)


def test_the_ratio_is_the_originals_mean_over_the_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _measure(monkeypatch, FakeMachine({ORIGINAL: 30, CANDIDATE: 12}))
    assert found.ratio == pytest.approx(2.5, rel=0.05)
    assert found.ratio == pytest.approx(found.before_ms / found.after_ms)
    assert found.ci95[0] < found.ratio_bound < found.ratio < found.ci95[1]
    assert found.after_bound_ms > found.after_ms
    assert (found.before_memory_bytes, found.after_memory_bytes, found.memory_ratio) == (200, 100, 2)
    assert found.p95_ratio == pytest.approx(2.5, rel=0.1)


def test_models_take_turns_on_the_same_sample_in_random_order(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 12})
    found = _measure(monkeypatch, machine)
    timed = machine.calls[-2 * found.pairs :]
    turns = [timed[position : position + 2] for position in range(0, len(timed), 2)]
    assert all({name for name, _ in turn} == {ORIGINAL, CANDIDATE} for turn in turns)
    assert all(turn[0][1] == turn[1][1] for turn in turns)
    firsts = [turn[0][0] for turn in turns]
    assert 0.2 < firsts.count(ORIGINAL) / len(firsts) < 0.8


def test_every_sample_is_seen_before_it_stops_early(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine({ORIGINAL: 3, CANDIDATE: 3}, spread=0.0001)
    found = _measure(monkeypatch, machine, data=samples(120), indices=range(120))
    assert {unit for _, unit in machine.calls} == set(range(120))
    assert found.samples == 120
    assert found.pairs < 200


def test_it_stops_when_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 30}, spread=0.3)
    _measure(monkeypatch, machine, budget_s=3)
    assert 3 <= machine.now < 4


def test_a_slow_model_still_gives_five_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _measure(monkeypatch, FakeMachine({ORIGINAL: 9000, CANDIDATE: 9000}), budget_s=1)
    assert found.pairs == 5


def test_disturbed_pairs_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _measure(monkeypatch, FakeMachine({ORIGINAL: 30, CANDIDATE: 10}, disturbed=0.2))
    assert found.disturbed > 0
    assert found.ratio == pytest.approx(3, rel=0.05)


@pytest.mark.parametrize("disturbed", [0.5, 0.9, 0.99])
def test_on_a_busy_machine_the_ratio_is_the_true_one(monkeypatch: pytest.MonkeyPatch, disturbed: float) -> None:
    """The longer model waits more often; on the wall it would seem many times slower than it is."""
    machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 10, AGAIN: 30}, disturbed=disturbed)
    found = _measure(monkeypatch, machine, noise=True)
    assert found.ratio == pytest.approx(3, rel=0.05)
    assert found.trustworthy
    assert found.disturbed > 0


def test_without_peace_it_waits_twice_the_budget_and_then_compares_processor_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 10}, disturbed=0.99)
    found = _measure(monkeypatch, machine, budget_s=5)
    assert found.basis == "processor"
    assert "processor time" in found.to_dict()["how"]
    assert found.before_ms == pytest.approx(30, rel=0.05)
    assert 10 <= machine.now < 11


def test_without_peace_and_with_several_threads_nothing_can_be_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 10}, disturbed=0.99)
    found = _measure(monkeypatch, machine, settings=SessionSettings(threads=2))
    assert found.basis == "wall"
    assert not found.trustworthy


def test_the_original_against_itself_tells_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _measure(monkeypatch, FakeMachine({ORIGINAL: 30, CANDIDATE: 10, AGAIN: 30}), noise=True)
    assert found.noise_ci95[0] < 1.01
    assert found.noise_ci95[1] > 0.99
    assert 0 < found.smallest_effect < 0.1
    assert _measure(monkeypatch, FakeMachine({ORIGINAL: 30, CANDIDATE: 10})).smallest_effect is None


def test_equal_seeds_give_equal_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = []
    for seed in (1, 1, 2):
        machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 12})
        _measure(monkeypatch, machine, seed=seed)
        orders.append(machine.calls)
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(
    ("count", "batch", "expected"), [(20, 4, [4] * 5), (10, 4, [4, 4]), (3, 4, [4]), (20, 1, [1] * 20)]
)
def test_samples_run_in_full_batches(
    monkeypatch: pytest.MonkeyPatch, count: int, batch: int, expected: list[int]
) -> None:
    machine = FakeMachine({ORIGINAL: 30, CANDIDATE: 12})
    found = _measure(monkeypatch, machine, indices=range(count), batch=batch)
    assert [len(feed["x"]) for feed in machine.feeds] == expected
    assert found.after_throughput == pytest.approx(1e3 * batch / found.after_ms)


def test_without_samples_there_is_nothing_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="no samples"):
        _measure(monkeypatch, FakeMachine({ORIGINAL: 1, CANDIDATE: 1}), indices=[])


class _Impatient(Silent):
    def step(self, done: int, total: int, what: str = "") -> None:
        if done:
            raise StoppedError("Stopped.")


def test_it_can_be_stopped_between_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StoppedError):
        _measure(monkeypatch, FakeMachine({ORIGINAL: 30, CANDIDATE: 12}), progress=_Impatient())


@pytest.mark.xdist_group("timing")
def test_a_model_against_itself_in_real_children_is_about_as_fast() -> None:
    found = measure_pair(classifier(), classifier(), samples(8), range(8), settings=SETTINGS, budget_s=0.3)
    assert 0.3 < found.ratio < 3
    assert found.pairs >= 5
    assert found.before_memory_bytes is not None
    assert found.before_memory_bytes > 10e6
