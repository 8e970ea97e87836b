"""The queue on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contracts.jobs import JobsContract


class TestOnSqlite(JobsContract):
    @pytest.fixture
    def environment(self, workspace_path: Path) -> dict[str, str]:
        return {"MIXDESK_WORKSPACE": str(workspace_path)}


@pytest.mark.xdist_group("postgres")
class TestOnPostgres(JobsContract):
    @pytest.fixture
    def environment(self, workspace_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
        monkeypatch.setenv("MIXDESK_DATABASE_URL", postgres_url)
        return {"MIXDESK_WORKSPACE": str(workspace_path), "MIXDESK_DATABASE_URL": postgres_url}
