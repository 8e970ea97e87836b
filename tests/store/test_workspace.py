"""Workspaces on SQLite and on PostgreSQL, and how opening one can go wrong."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import platformdirs
import pytest

from core.errors import RequestError
from core.store import workspace as module
from core.store.workspace import Workspace, default_path
from tests.contracts.store import Opener, StoreContract, stored_model


class TestOnSqlite(StoreContract):
    @pytest.fixture
    def place(self, workspace_path: Path) -> Opener:
        return lambda: Workspace.open(workspace_path)


@pytest.mark.xdist_group("postgres")
class TestOnPostgres(StoreContract):
    @pytest.fixture
    def place(self, workspace_path: Path, postgres_url: str) -> Opener:
        return lambda: Workspace.open(workspace_path, database_url=postgres_url)


def test_the_folder_asked_for_wins_over_the_environment(workspace_path: Path, tmp_path: Path) -> None:
    assert Workspace.open(tmp_path / "asked").path == tmp_path / "asked"
    assert Workspace.open().path == workspace_path


def test_without_a_word_the_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIXDESK_WORKSPACE", raising=False)
    assert default_path() == Path(platformdirs.user_data_dir("mixdesk", appauthor=False))


def test_database_and_files_can_be_elsewhere_by_the_environment(
    workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIXDESK_DATABASE_URL", f"sqlite:///{tmp_path / 'elsewhere.db'}")
    monkeypatch.setenv("MIXDESK_FILES_URL", str(tmp_path / "store"))
    sha256 = stored_model(Workspace.open()).sha256
    assert (tmp_path / "elsewhere.db").exists()
    assert list((tmp_path / "store").rglob(f"{sha256}*"))
    assert not (workspace_path / "mixdesk.db").exists()


def test_another_process_can_be_told_which_workspace_to_open(
    workspace_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    workspace = Workspace.open(workspace_path, database_url=database, files_url=str(tmp_path / "store"))
    row = stored_model(workspace)
    for name, value in workspace.environment().items():
        monkeypatch.setenv(name, value)
    with Workspace.open() as other:
        assert other.models() == (row,)
        assert other.files.read(row.sha256) == b"model"


def test_sqlite_writes_ahead_and_watches_references(workspace_path: Path) -> None:
    with Workspace.open(workspace_path).database.reading() as connection:
        settings = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        }
    assert settings == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 15_000}


def test_a_path_below_a_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match=r"cannot be made \(Not a directory\)") as refused:
        Workspace.open(tmp_path / "file" / "workspace")
    assert "--workspace" in str(refused.value.hint)


def test_a_folder_without_write_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() == 0:  # root may write everywhere: ask what another user would be told
        monkeypatch.setattr(module, "is_writable", lambda path: False)
    (tmp_path / "workspace" / "logs").mkdir(parents=True)
    (tmp_path / "workspace").chmod(0o555)
    with pytest.raises(RequestError, match="cannot be written"):
        Workspace.open(tmp_path / "workspace")


def test_a_database_file_that_is_none_is_refused_in_one_line(workspace_path: Path) -> None:
    workspace_path.mkdir()
    (workspace_path / "mixdesk.db").write_bytes(b"this is no database at all, only some text" * 100)
    with pytest.raises(RequestError, match="is damaged") as refused:
        Workspace.open(workspace_path)
    assert "\n" not in refused.value.message
    assert str(workspace_path / "mixdesk.db") in refused.value.message


def test_a_damaged_page_is_told_in_one_line(workspace_path: Path) -> None:
    with Workspace.open(workspace_path) as workspace:
        for i in range(200):
            workspace.add_model(f"model {i}" * 20, f"{i:064x}", i)
    with sqlite3.connect(workspace_path / "mixdesk.db") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = int(connection.execute("PRAGMA page_size").fetchone()[0])
        page = int(connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'models'").fetchone()[0])
    with (workspace_path / "mixdesk.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with pytest.raises(RequestError, match="is damaged"):
        Workspace.open(workspace_path).models()


OPEN_AND_WRITE = """
import sys, time
from pathlib import Path
from core.store.workspace import Workspace
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
workspace = Workspace.open(Path(sys.argv[1]))
workspace.cache_put(sys.argv[3], {"opened": True})
"""


def test_processes_that_open_a_fresh_workspace_at_once_all_succeed(workspace_path: Path) -> None:
    at = str(time.time() + 1.0)
    processes = [
        subprocess.Popen([sys.executable, "-c", OPEN_AND_WRITE, str(workspace_path), at, str(number)])
        for number in range(4)
    ]
    assert [process.wait(60) for process in processes] == [0] * 4
    workspace = Workspace.open(workspace_path)
    assert all(workspace.cache_get(str(number)) == {"opened": True} for number in range(4))
