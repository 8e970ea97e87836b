"""The database's failures reach the user as one line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

from core.errors import MixdeskError, RequestError, UnavailableError, WorkError
from core.store import database as module
from core.store.database import Database, sqlite_url


@pytest.mark.parametrize("url", ["", "not an address", "nosuch://host/name", "mysql://host/name"])
def test_an_address_that_cannot_be_used_is_refused_with_examples(url: str) -> None:
    with pytest.raises(RequestError) as refused:
        Database(url)
    assert "sqlite:////folder/file.db or postgresql://" in str(refused.value.hint)


def test_a_plain_postgresql_address_takes_the_driver_of_the_extra() -> None:
    pytest.importorskip("psycopg")
    assert Database("postgresql://user:secret@host/name").url.drivername == "postgresql+psycopg"


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'psycopg'", name="psycopg")

    monkeypatch.setattr(module, "create_engine", missing)
    with pytest.raises(UnavailableError, match=r"not installed \(psycopg\)") as refused:
        Database("postgresql://host/name")
    assert "mixdesk[postgres]" in str(refused.value.hint)


def test_a_message_never_shows_the_password() -> None:
    pytest.importorskip("psycopg")
    assert "secret" not in Database("postgresql://user:secret@host/name").label


def test_a_server_that_does_not_answer_is_told(tmp_path: Path) -> None:
    pytest.importorskip("psycopg")
    with (
        pytest.raises(RequestError, match="cannot be reached") as refused,
        Database("postgresql://user@127.0.0.1:1/name").reading(),
    ):
        pass
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    ("reason", "kind", "told"),
    [
        ("file is not a database", RequestError, "is damaged"),
        ("database disk image is malformed", RequestError, "is damaged"),
        ("attempt to write a readonly database", RequestError, "cannot be opened for writing"),
        ("unable to open database file", RequestError, "cannot be opened for writing"),
        ("database is locked", WorkError, "was busy for more than 15 s"),
        ("database or disk is full", WorkError, "cannot be written"),
        ("something new\nwith more lines", WorkError, "refused a request (something new)"),
    ],
)
def test_each_failure_of_sqlite_has_its_sentence(
    tmp_path: Path, reason: str, kind: type[MixdeskError], told: str
) -> None:
    database = Database(sqlite_url(tmp_path / "some.db"))
    with pytest.raises(kind) as failed, database.reading():
        raise OperationalError("SELECT 1", {}, sqlite3.OperationalError(reason))
    assert told in failed.value.message
    assert "some.db" in failed.value.message


def test_a_writer_waits_for_another_instead_of_failing(tmp_path: Path) -> None:
    database = Database(sqlite_url(tmp_path / "some.db"))
    database.use_write_ahead_log()
    with database.writing() as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER)")
    other = sqlite3.connect(tmp_path / "some.db", isolation_level=None, timeout=0)
    with database.writing() as connection:
        connection.exec_driver_sql("SELECT * FROM t")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")  # the lock is taken at the beginning, not at the first change
    other.close()
