"""A desk of one's own: an empty workspace that the dashboard's services use, without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.store.workspace import Workspace
from dashboard import services
from tests.dashboard.faked import Desk, faked


@pytest.fixture
def desk(workspace_path: Path) -> Iterator[Workspace]:
    """The workspace behind `services`; jobs are queued there and run by nobody."""
    assert workspace_path.name
    yield services.workspace()
    services.close()


@pytest.fixture
def table(desk: Workspace, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Desk]:
    """Makes a desk whose services answer with the documents of the test."""
    assert desk.path.exists()
    return faked(monkeypatch)
