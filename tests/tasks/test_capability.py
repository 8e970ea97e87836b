"""The grid and the roofline of a machine are probed once, and again when asked or when they could have changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

import core
from core.capability.grid import Capability, CapabilityGrid
from core.measure.roofline import Roofline
from core.progress import Silent
from core.recipe.precision import Precision, Support
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks import capability, roofline
from core.tasks.machine import known_machine, machine
from core.tasks.roofline import known_roofline, machine_roofline

HERE = Roofline({"fp32": 100.0}, 10.0, threads=1, how={"fp32": "MatMul"}, time="2026-01-01T00:00:00+00:00")


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Precision]]:
    """Threads and precision of every probe that was made."""
    made: list[tuple[int, Precision]] = []

    def probe(settings: SessionSettings, *_: Any, precisions: tuple[Precision, ...], **__: Any) -> CapabilityGrid:
        (precision,) = precisions
        made.append((settings.threads, precision))
        row = Capability("Conv", "s", precision, settings.provider, Support.SIMULATED, None, None, "because")
        return CapabilityGrid((row,), saturates=False)

    monkeypatch.setattr(capability, "probe", probe)
    return made


@pytest.fixture(autouse=True)
def rooflines(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Threads of every roofline that was measured."""
    made: list[int] = []

    def probe_roofline(settings: SessionSettings, *_: Any) -> Roofline:
        made.append(settings.threads)
        return HERE

    monkeypatch.setattr(roofline, "probe_roofline", probe_roofline)
    return made


class Kept(Silent):
    """Keeps the pieces that were published."""

    def __init__(self) -> None:
        self.pieces: list[Mapping[str, Any]] = []

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        if kind == "capability":
            self.pieces.append(value)


def test_it_is_probed_once(store: Workspace, probes: list[tuple[int, Precision]]) -> None:
    for _ in range(2):
        assert not capability.capability_grid(store, SessionSettings(), Silent()).saturates
    assert probes == [(1, Precision.INT8)]


def test_only_what_is_not_known_is_probed(store: Workspace, probes: list[tuple[int, Precision]]) -> None:
    capability.capability_grid(store, SessionSettings(), Silent())
    both = (Precision.INT8, Precision.FP16)
    grid = capability.capability_grid(store, SessionSettings(), Silent(), precisions=both)
    assert [precision for _, precision in probes] == [Precision.INT8, Precision.FP16]
    assert tuple(row.precision for row in grid.rows) == both


def test_other_threads_versions_or_ways_of_probing_are_probed_anew(
    store: Workspace, probes: list[tuple[int, Precision]], monkeypatch: pytest.MonkeyPatch
) -> None:
    capability.capability_grid(store, SessionSettings(), Silent())
    capability.capability_grid(store, SessionSettings(threads=2), Silent())
    monkeypatch.setattr(core, "__version__", "99.0.0")
    capability.capability_grid(store, SessionSettings(), Silent())
    monkeypatch.setattr(capability, "_VERSION", 99)
    capability.capability_grid(store, SessionSettings(), Silent())
    assert [threads for threads, _ in probes] == [1, 2, 1, 1]


@pytest.mark.usefixtures("probes")
def test_each_precision_is_published_as_soon_as_it_is_known(store: Workspace) -> None:
    kept = Kept()
    capability.capability_grid(store, SessionSettings(), kept, precisions=(Precision.INT8, Precision.FP8))
    assert [piece["capability"][0]["precision"] for piece in kept.pieces] == ["int8", "fp8"]


def test_the_machine_task_tells_all_precisions_and_probes_again_when_asked(
    store: Workspace, probes: list[tuple[int, Precision]], rooflines: list[int]
) -> None:
    document = machine(store, {}, Silent())
    assert {row["precision"] for row in document["capability"]} == set(Precision)
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["saturates"] is False
    assert document["roofline"] == HERE.to_dict()
    machine(store, {}, Silent())
    assert (len(probes), rooflines) == (len(Precision), [1])
    machine(store, {"refresh": True}, Silent())
    assert (len(probes), rooflines) == (2 * len(Precision), [1, 1])


def test_what_is_kept_is_told_without_asking_the_machine(
    store: Workspace, probes: list[tuple[int, Precision]], rooflines: list[int]
) -> None:
    nothing = known_machine(store, SessionSettings())
    assert (nothing["capability"], nothing["roofline"], nothing["saturates"]) == ([], None, None)
    capability.capability_grid(store, SessionSettings(), Silent())
    assert [row["precision"] for row in known_machine(store, SessionSettings())["capability"]] == ["int8"]
    document = machine(store, {}, Silent())
    count = len(probes), len(rooflines)
    found = known_machine(store, SessionSettings())
    assert (found["capability"], found["roofline"]) == (document["capability"], document["roofline"])
    assert (len(probes), len(rooflines)) == count


def test_the_roofline_is_measured_once_per_number_of_threads(store: Workspace, rooflines: list[int]) -> None:
    assert known_roofline(store, SessionSettings()) is None
    for threads in (1, 1, 2):
        assert machine_roofline(store, SessionSettings(threads=threads), Silent()) == HERE
    assert rooflines == [1, 2]
    assert known_roofline(store, SessionSettings()) == HERE
