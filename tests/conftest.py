"""Fixtures that several parts share: the samples, a workspace of one's own, the browser, the zoo."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from core.measure.roofline import CacheSpeed, Roofline
from core.tasks import roofline

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "sample_models"


def missing_service(what: str) -> NoReturn:
    """Skips the test for want of a service, or fails it where MIXDESK_REQUIRE_SERVICES says that all must be there."""
    if os.environ.get("MIXDESK_REQUIRE_SERVICES"):
        pytest.fail(f"{what}, and MIXDESK_REQUIRE_SERVICES is set")
    pytest.skip(what)


def constants(modules: Mapping[str, Any]) -> dict[str, str]:
    """The values of all module-level constants of the tests that can be changed in place, by dotted name."""
    return {
        f"{module}.{name}": repr(value)
        for module, owner in modules.items()
        if module.startswith("tests.")
        for name, value in list(vars(owner).items())
        if name.isupper() and isinstance(value, dict | list | set)
    }


@pytest.fixture(scope="module", autouse=True)
def unchanged_constants() -> Iterator[None]:
    """Fails where a test changed a constant, since another test of the same process would then depend on the order."""
    before = constants(dict(sys.modules))
    yield
    after = constants(dict(sys.modules))
    changed = sorted(name for name in before if after.get(name) != before[name])
    assert not changed, f"changed in place by a test of this module: {', '.join(changed)}"


@pytest.fixture(autouse=True)
def measured_roofline(monkeypatch: pytest.MonkeyPatch) -> Roofline:
    """A machine whose highest speeds are known: measuring them takes seconds. Children measure theirs."""
    known = Roofline({"fp32": 100.0, "int8": 300.0}, 10.0, (CacheSpeed(2**20, 40.0),), time="2026-01-01T00:00:00+00:00")
    monkeypatch.setattr(roofline, "probe_roofline", lambda *arguments: known)
    return known


@pytest.fixture(scope="session")
def digits_model() -> Path:
    """The residual network on digits: image [batch, 1, 32, 32] float32 -> logits [batch, 10]."""
    return SAMPLES / "digits-cnn.onnx"


@pytest.fixture(scope="session")
def digits_data() -> Path:
    """Its data with labels and splits."""
    return SAMPLES / "data" / "digits-cnn.npz"


@pytest.fixture
def workspace_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace folder that this test, and every child it starts, uses."""
    path = tmp_path / "workspace"
    monkeypatch.setenv("MIXDESK_WORKSPACE", str(path))
    monkeypatch.delenv("MIXDESK_DATABASE_URL", raising=False)
    return path


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser's executable."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        missing_service("chromium is not on the path")
    return found


@pytest.fixture(scope="session")
def zoo() -> Path:
    """The folder of real models: index.json, models/, data/."""
    named = os.environ.get("MIXDESK_ZOO")
    path = Path(named) if named else ROOT.parent / "shared" / "zoo"
    if not (path / "index.json").is_file():
        pytest.skip("no zoo: MIXDESK_ZOO names none and ../shared/zoo is absent")
    return path
