"""Forgetting jobs, and their lineage, on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contracts.jobs_kept import JobsKeptContract


class TestOnSqlite(JobsKeptContract):
    @pytest.fixture
    def environment(self, workspace_path: Path) -> dict[str, str]:
        return {"MIXDESK_WORKSPACE": str(workspace_path)}


@pytest.mark.xdist_group("postgres")
class TestOnPostgres(JobsKeptContract):
    @pytest.fixture
    def environment(self, workspace_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
        monkeypatch.setenv("MIXDESK_DATABASE_URL", postgres_url)
        return {"MIXDESK_WORKSPACE": str(workspace_path), "MIXDESK_DATABASE_URL": postgres_url}
