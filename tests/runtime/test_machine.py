from __future__ import annotations

import platform
from datetime import datetime

import onnxruntime as ort
import pytest

from core.runtime import machine
from core.runtime.machine import core_count, cpu_features, cpu_name, machine_id, read_conditions
from core.runtime.settings import SessionSettings


@pytest.fixture
def fresh() -> None:
    for cached in (machine_id, cpu_name, cpu_features, machine._read_cpuinfo):
        cached.cache_clear()


def test_conditions_tell_machine_versions_and_settings() -> None:
    told = read_conditions(SessionSettings(threads=2), batch=4, seed=7).to_dict()
    assert told["machine"] == machine_id()
    assert told["onnxruntime"] == ort.__version__
    assert (told["threads"], told["batch"], told["seed"]) == (2, 4, 7)
    assert told["cores"] == core_count() >= 1
    assert datetime.fromisoformat(told["time"]).tzinfo is not None


def test_the_id_does_not_depend_on_the_host_name(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    before = machine_id()
    machine_id.cache_clear()
    monkeypatch.setattr(platform, "node", lambda: "elsewhere")
    assert machine_id() == before


def test_the_id_depends_on_the_processor(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    before = machine_id()
    machine_id.cache_clear()
    monkeypatch.setattr(machine, "cpu_name", lambda: "another processor")
    assert machine_id() != before
    machine_id.cache_clear()


def test_features_are_those_that_decide_kernels(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    monkeypatch.setattr(machine, "_read_cpuinfo", lambda: {"flags": "fpu avx2 ht avx512_vnni", "model name": "A chip"})
    assert cpu_features() == ("avx2", "avx512_vnni")
    assert cpu_name() == "A chip"
    cpu_features.cache_clear()
    cpu_name.cache_clear()


def test_an_arm_processor_is_read_too(monkeypatch: pytest.MonkeyPatch, fresh: None) -> None:
    monkeypatch.setattr(machine, "_read_cpuinfo", lambda: {"features": "fp asimd asimddp i8mm"})
    assert cpu_features() == ("neon", "dotprod", "i8mm")
    cpu_features.cache_clear()
