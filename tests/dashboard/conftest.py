"""A desk of one's own: an empty workspace that the dashboard's services use, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.store.workspace import Workspace
from dashboard import services


@pytest.fixture
def desk(workspace_path: Path) -> Iterator[Workspace]:
    """The workspace behind `services`; jobs are queued there and run by nobody."""
    assert workspace_path.name
    yield services.workspace()
    services.close()
