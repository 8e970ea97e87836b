"""Parts of documents on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.store.workspace import Workspace
from tests.contracts.parts import PartsContract
from tests.contracts.store import Opener


class TestOnSqlite(PartsContract):
    @pytest.fixture
    def place(self, workspace_path: Path) -> Opener:
        return lambda: Workspace.open(workspace_path)


@pytest.mark.xdist_group("postgres")
class TestOnPostgres(PartsContract):
    @pytest.fixture
    def place(self, workspace_path: Path, postgres_url: str) -> Opener:
        return lambda: Workspace.open(workspace_path, database_url=postgres_url)
