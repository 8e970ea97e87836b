from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import psutil
import pytest

from core.errors import CrashedError, RunError, StoppedError
from core.measure import sweep as sweep_module
from core.measure.calm import Timed
from core.measure.sweep import sweep_model
from core.measure.sweep_plan import Cell, grid
from core.measure.swept import Sweep
from core.progress import Silent
from core.runtime.settings import SessionSettings
from tests.measure.data import classifier, samples

SETTINGS = SessionSettings()
CELLS = grid((1, 2), (1, 4))


class FakeMachine:
    """Children whose runs take 3 ms per sample and thread on a made-up clock; `drift` slows everything down over time.

    `calls` is who ran, in order; `fails` says what a cell fails with when it is opened or, after some runs, visited.
    """

    def __init__(
        self, *, drift: float = 0.0, fails: Mapping[Cell, Exception] | None = None, late: bool = False
    ) -> None:
        self.now = 0.0
        self.calls: list[Cell] = []
        self.opened: list[Cell] = []
        self.closed: list[Cell] = []
        self.drift = drift
        self.fails = dict(fails or {})
        self.late = late

    def clock(self) -> float:
        return self.now

    @contextmanager
    def open(self, models: Mapping[str, Any], feeds: Sequence[Any], settings: SessionSettings) -> Any:
        cell = Cell(settings.threads, len(feeds[0]["x"]))
        self.now += 0.5
        if cell in self.fails and not self.late:
            raise self.fails[cell]
        self.opened.append(cell)
        yield {name: FakeChild(self, cell) for name in models}
        self.closed.append(cell)


class FakeChild:
    def __init__(self, machine: FakeMachine, cell: Cell) -> None:
        self._machine = machine
        self._cell = cell
        self._visits = 0
        self._chance = np.random.default_rng(cell.batch)

    def runs(self, unit: int, *, warm: int = 0, times: int = 1) -> list[Timed]:
        machine, cell = self._machine, self._cell
        self._visits += 1
        if machine.late and cell in machine.fails and self._visits > 4:
            raise machine.fails[cell]
        machine.calls.append(cell)
        slow = 1 + machine.drift * machine.now
        spent = [3 * cell.batch / cell.threads * slow * self._chance.normal(1, 0.02) for _ in range(times)]
        machine.now += (sum(spent) + warm * spent[0]) / 1e3
        return [Timed(1e6 * ms, 1e6 * ms, False) for ms in spent]

    def peak_bytes(self) -> int:
        return 10**8


class Listener(Silent):
    """Keeps what it is told; stops the work at a given step."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.phases: list[str] = []
        self.partials: list[Mapping[str, Any]] = []
        self.steps: list[tuple[int, int, str]] = []
        self._stop_at = stop_at

    def phase(self, name: str, *, start: float, end: float) -> None:
        self.phases.append(name)

    def step(self, done: int, total: int, what: str = "") -> None:
        self.steps.append((done, total, what))
        if self._stop_at is not None and len(self.steps) > self._stop_at:
            raise StoppedError("Stopped on request.")

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        assert kind == "sweep"
        self.partials.append(value)


def _sweep(monkeypatch: pytest.MonkeyPatch, machine: FakeMachine, **options: Any) -> Sweep:
    monkeypatch.setattr(sweep_module, "open_children", machine.open)
    given: dict[str, Any] = {"settings": SETTINGS, "clock": machine.clock, **options}
    return sweep_model(b"model", given.pop("data", samples(20)), given.pop("cells", CELLS), **given)


def test_every_cell_has_its_latency_its_interval_and_its_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _sweep(monkeypatch, FakeMachine())
    for swept in found.cells:
        assert swept.latency is not None
        assert swept.conditions is not None
        expected = 3 * swept.cell.batch / swept.cell.threads
        assert swept.latency.mean_ms == pytest.approx(expected, rel=0.02)
        low, high = swept.latency.ci95_ms
        assert low < swept.latency.mean_ms < high < swept.latency.p95_ms
        assert swept.throughput == pytest.approx(1e3 * swept.cell.batch / swept.latency.mean_ms)
        assert (swept.conditions.threads, swept.conditions.batch) == (swept.cell.threads, swept.cell.batch)
    assert found.sweet_spot is not None
    assert found.sweet_spot.cell.threads == 2


def test_a_drift_of_the_machine_hits_all_cells_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the end everything takes twice as long; measured one after the other, later cells would seem slower."""
    machine = FakeMachine(drift=0.1)
    found = _sweep(monkeypatch, machine)
    assert machine.now > 5
    per_sample = [
        swept.latency.mean_ms * swept.cell.threads / swept.cell.batch for swept in found.cells if swept.latency
    ]
    assert max(per_sample) / min(per_sample) < 1.08
    assert found.interleaved


def test_where_memory_is_short_cells_are_opened_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    free = psutil.virtual_memory()._replace(available=3 * 10**8)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    machine = FakeMachine(drift=0.02)
    found = _sweep(monkeypatch, machine)
    assert not found.interleaved
    assert machine.opened == machine.closed
    assert all(machine.opened[1:].count(cell) == 3 for cell in CELLS)
    assert found.to_dict()["how"].startswith("one cell after the other")
    assert all(swept.latency is not None for swept in found.cells)


def test_how_long_it_takes_is_told_before_and_about_right(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    found = _sweep(monkeypatch, FakeMachine(), progress=listener, cells=grid((1,), (1, 2, 4)))
    assert listener.partials[0]["estimate_s"] == found.estimate_s
    assert all(cell["latency_ms"] is None for cell in listener.partials[0]["cells"])
    assert listener.phases[1] == f"Measure 3 cells, about {round(found.estimate_s)} s"
    assert found.measured_s == pytest.approx(found.estimate_s, rel=0.15)
    assert [done for done, _, _ in listener.steps] == sorted(done for done, _, _ in listener.steps)


def test_cells_appear_while_it_runs_and_stay_when_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, listener = FakeMachine(), Listener(stop_at=20)
    with pytest.raises(StoppedError):
        _sweep(monkeypatch, machine, progress=listener)
    assert all(cell["latency_ms"]["mean"] > 0 for cell in listener.partials[-1]["cells"])
    assert sorted(machine.opened[1:]) == sorted(CELLS)


@pytest.mark.parametrize("error", [RunError("The model with 2 threads failed."), CrashedError("Its process died.")])
@pytest.mark.parametrize("late", [False, True])
def test_a_cell_that_fails_has_its_reason_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, error: RunError | CrashedError, late: bool
) -> None:
    found = _sweep(monkeypatch, FakeMachine(fails={Cell(2, 4): error}, late=late))
    failed = found.cells[-1]
    assert (failed.why, failed.latency, failed.throughput) == (error.message, None, None)
    assert all(swept.latency is not None for swept in found.cells[:-1])


def test_a_fixed_batch_axis_is_the_reason_of_every_larger_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = replace(samples(20), batch_obstacle="input 'x' has 1 as its first size")
    machine = FakeMachine()
    found = _sweep(monkeypatch, machine, data=fixed)
    reasons = {str(swept.cell): swept.why for swept in found.cells}
    assert reasons["1 thread, batch 4"] == "Samples cannot run together: input 'x' has 1 as its first size."
    assert reasons["2 threads, batch 1"] is None
    assert {cell.batch for cell in machine.opened} == {1}
    assert found.to_dict()["cells"][1]["latency_ms"] is None


def test_more_threads_than_processors_are_measured_and_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "usable_cores", lambda: 2)
    found = _sweep(monkeypatch, FakeMachine(), cells=grid((2, 3), (1,)))
    assert [swept.oversubscribed for swept in found.cells] == [False, True]
    assert found.cells[1].latency is not None


@pytest.mark.xdist_group("timing")
def test_a_real_model_is_swept() -> None:
    found = sweep_model(classifier(), samples(20), grid((1,), (1, 8)), settings=SETTINGS, limit_ms=1e4)
    small, large = (swept.throughput or 0.0 for swept in found.cells)
    assert large > 1.5 * small > 0
    assert found.sweet_spot is found.cells[1]
