"""What a profile that still runs has published: structure, memory, the cold start, times as they come."""

from __future__ import annotations

import pytest

from core.errors import StoppedError
from core.graph.read import read_layers
from core.measure.calm import Timed
from core.measure.first_run import RunLimits
from core.measure.instrumented import Both
from core.measure.profile import profile_model
from core.measure.so_far import SoFar
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings
from tests.measure.data import convolutions
from tests.tasks.recording import Recording

SETTINGS = SessionSettings()


class StopsAtRun(Recording):
    """Presses Stop when the given run, or the first turn after it, begins."""

    def __init__(self, run: int) -> None:
        super().__init__()
        self._run = run

    def step(self, done: int, total: int, what: str = "") -> None:
        super().step(done, total, what)
        if what.startswith("run ") and int(what.removeprefix("run ")) >= self._run:
            raise StoppedError("Stopped on request.")


def test_a_profile_that_is_stopped_has_published_what_it_knew() -> None:
    model, data = convolutions()
    table, progress = read_layers(model), StopsAtRun(2)
    with pytest.raises(StoppedError):
        profile_model(model, table, data, settings=SETTINGS, limits=RunLimits(), progress=progress)
    assert {kind for kind, _ in progress.partials} == {"profile"}
    known = {key: value for _, piece in progress.partials for key, value in piece.items()}
    assert [row["id"] for row in known["layers"]] == [layer.id for layer in table]
    assert all(row["ms"] is None for row in known["layers"])
    assert known["memory"]["activation_peak_bytes"] > 0
    assert known["memory"]["process_peak_bytes"] > 0
    assert known["cold"]["load_ms"] > 0
    assert known["conditions"]["threads"] == 1


def test_a_slow_model_has_the_times_of_its_layers_published_before_the_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.measure.profile._LONG_RUN_MS", 0.0)
    model, data = convolutions()
    progress = StopsAtRun(1)
    with pytest.raises(StoppedError):
        profile_model(model, read_layers(model), data, settings=SETTINGS, limits=RunLimits(), progress=progress)
    layers = [piece["layers"] for _, piece in progress.partials if "layers" in piece][-1]
    assert sum(row["ms"] for row in layers) > 0


def test_a_part_of_other_work_publishes_nothing() -> None:
    model, data = convolutions()
    progress = Recording()
    profile_model(model, read_layers(model), data, settings=SETTINGS, runs=2, progress=progress)
    assert progress.partials == []


def test_wall_times_are_published_once_a_second_at_most() -> None:
    now = [0.0]
    progress = Recording()
    so_far = SoFar(progress, read_conditions(SETTINGS), clock=lambda: now[0])
    timed = [Both(Timed(2e6, 2e6, False), Timed(3e6, 3e6, False))] * 4
    for second in (0.2, 0.9, 1.1, 1.5, 2.2):
        now[0] = second
        so_far.runs(timed)
    assert len(progress.partials) == 2
    kind, piece = progress.partials[-1]
    assert (kind, piece["runs"], piece["wall_ms"]["median"]) == ("profile", 4, 2.0)
