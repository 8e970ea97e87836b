"""Migrations: complete, in one line of revisions, and known to the code."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from filelock import FileLock

from core.errors import WorkError
from core.store import migrate as module
from core.store.database import Database, sqlite_url
from core.store.migrate import NEWEST_REVISION, migrate


def scripts() -> ScriptDirectory:
    config = Config()
    config.set_main_option("script_location", str(Path(module.__file__).parent / "migrations"))
    return ScriptDirectory.from_config(config)


def test_the_newest_revision_is_the_one_that_the_code_names() -> None:
    assert scripts().get_heads() == [NEWEST_REVISION]


def test_revisions_sort_by_age() -> None:
    revisions = [script.revision for script in scripts().walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)


def test_a_database_that_is_up_to_date_is_opened_without_the_lock(tmp_path: Path) -> None:
    database = Database(sqlite_url(tmp_path / "some.db"))
    migrate(database, tmp_path / "lock")
    with FileLock(tmp_path / "lock"):
        migrate(database, tmp_path / "lock")
    database.close()


def test_a_migration_that_never_ends_elsewhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOCK_TIMEOUT_S", 0.1)
    database = Database(sqlite_url(tmp_path / "some.db"))
    with FileLock(tmp_path / "lock"), pytest.raises(WorkError, match="Another process has been preparing"):
        migrate(database, tmp_path / "lock")
    database.close()


def test_a_failed_migration_leaves_an_empty_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(sqlite_url(tmp_path / "some.db"))
    upgrade = module._upgrade

    def fail_at_the_end(connection: object) -> None:
        upgrade(connection)  # type: ignore[arg-type]
        raise ZeroDivisionError

    monkeypatch.setattr(module, "_upgrade", fail_at_the_end)
    with pytest.raises(ZeroDivisionError):
        migrate(database, tmp_path / "lock")
    with database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar() == 0
    monkeypatch.undo()
    migrate(database, tmp_path / "lock")
    database.close()
