"""The grid of a machine is probed once, and again when asked or when it could have changed."""

from __future__ import annotations

from typing import Any

import pytest

import core
from core.capability.grid import CapabilityGrid
from core.progress import Silent
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks import capability
from core.tasks.machine import machine


@pytest.fixture
def probes(monkeypatch: pytest.MonkeyPatch) -> list[SessionSettings]:
    """The settings of every probe that was made."""
    made: list[SessionSettings] = []

    def probe(settings: SessionSettings, *arguments: Any, **options: Any) -> CapabilityGrid:
        made.append(settings)
        return CapabilityGrid((), saturates=False)

    monkeypatch.setattr(capability, "probe", probe)
    return made


def test_it_is_probed_once(store: Workspace, probes: list[SessionSettings]) -> None:
    for _ in range(2):
        assert not capability.capability_grid(store, SessionSettings(), Silent()).saturates
    assert len(probes) == 1


def test_other_threads_or_another_version_are_probed_anew(
    store: Workspace, probes: list[SessionSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    capability.capability_grid(store, SessionSettings(), Silent())
    capability.capability_grid(store, SessionSettings(threads=2), Silent())
    monkeypatch.setattr(core, "__version__", "99.0.0")
    capability.capability_grid(store, SessionSettings(), Silent())
    assert [settings.threads for settings in probes] == [1, 2, 1]


def test_the_machine_task_probes_again_when_asked(store: Workspace, probes: list[SessionSettings]) -> None:
    document = machine(store, {}, Silent())
    machine(store, {"refresh": True}, Silent())
    assert len(probes) == 2
    assert document["machine"]["cores"] >= 1
    assert document["machine"]["saturates"] is False
    assert document["roofline"] is None
