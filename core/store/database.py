"""The connection to the workspace database: SQLite by default, PostgreSQL by address; its failures become one line."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from core.errors import MixdeskError, NotFoundError, RequestError, UnavailableError, WorkError
from core.store.strict_json import to_json

BUSY_TIMEOUT_S = 15.0
_WRITES = {"mixdesk_writes": True}


class Database:
    """An engine with two doors: `reading()` and `writing()`.

    A writing transaction takes the write lock at its beginning, so that two writers wait for one another instead of
    failing half-way.
    """

    def __init__(self, url: str | URL) -> None:
        self._engine = _make_engine(url)
        self._writer = self._engine.execution_options(**_WRITES)

    @property
    def url(self) -> URL:
        """Where the database is."""
        return self._engine.url

    @property
    def label(self) -> str:
        """The database's address for a message, without its password."""
        return self.url.database or "" if self.is_sqlite else self.url.render_as_string(hide_password=True)

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is a SQLite file."""
        return self._engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one consistent state."""
        with self._translated(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that may change rows; it is undone when the block raises."""
        with self._translated(), self._writer.begin() as connection:
            yield connection

    def use_write_ahead_log(self) -> None:
        """Switches a SQLite file to WAL (kept in the file): readers then never wait for a writer."""
        if self.is_sqlite:
            with self._translated(), self._engine.connect() as connection:
                raw = connection.connection.dbapi_connection
                assert raw is not None
                raw.cursor().execute("PRAGMA journal_mode=WAL")

    def close(self) -> None:
        """Closes the pooled connections of this process."""
        self._engine.dispose()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as e:
            raise _explain(e, self.label) from e


def upsert(connection: Connection, table: Table, values: Mapping[str, Any], *, update: Sequence[str]) -> None:
    """Inserts a row; where its primary key exists already, sets only the columns named in `update`."""
    key = [column.name for column in table.primary_key]
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = dialect.insert(table).values(dict(values))
    if update:
        changes = {name: statement.excluded[name] for name in update}
        connection.execute(statement.on_conflict_do_update(index_elements=key, set_=changes))
    else:
        connection.execute(statement.on_conflict_do_nothing(index_elements=key))


def sqlite_url(path: Path) -> URL:
    """Returns the address of a SQLite file."""
    return URL.create("sqlite", database=str(path))


def _make_engine(url: str | URL) -> Engine:
    parsed = _parse(url)
    try:
        engine = create_engine(parsed, json_serializer=to_json, pool_pre_ping=parsed.drivername != "sqlite")
    except ModuleNotFoundError as e:
        raise UnavailableError(
            f"The driver for {parsed.drivername} databases is not installed ({e.name}).",
            hint="For PostgreSQL: pip install 'mixdesk[postgres]'.",
        ) from e
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _parse(url: str | URL) -> URL:
    try:
        parsed = make_url(url)
        dialect = parsed.get_dialect().name
    except (ArgumentError, NoSuchModuleError, ValueError) as e:
        raise RequestError(f"The database address cannot be read: {_first_line(e)}.", hint=_ADDRESS_HINT) from e
    if dialect not in ("sqlite", "postgresql"):
        raise RequestError(f"Databases of kind {dialect} are not supported.", hint=_ADDRESS_HINT)
    if parsed.drivername == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


_ADDRESS_HINT = "Write sqlite:////folder/file.db or postgresql://user:password@host/name."


def _set_up_sqlite(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    connection.isolation_level = None  # transactions begin where _begin_sqlite says, not where the driver guesses
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={int(BUSY_TIMEOUT_S * 1000)}")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.execute("PRAGMA synchronous=NORMAL")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("mixdesk_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _explain(error: DBAPIError, label: str) -> MixdeskError:
    reason = _reason(error)
    text = reason.lower()
    if isinstance(error, IntegrityError) and "foreign key" in text:
        return NotFoundError(
            "The model or job that this belongs to is not in the workspace (any more).", hint="Load the model again."
        )
    if "not a database" in text or "malformed" in text:
        return RequestError(
            f"The workspace database {label} is damaged ({reason}).",
            hint="Put a copy back or move that file away; models and data in the folder 'files' stay.",
        )
    if "readonly" in text or "unable to open" in text or "permission" in text:
        return RequestError(
            f"The workspace database {label} cannot be opened for writing ({reason}).",
            hint="Choose a folder that you may write to with --workspace.",
        )
    if "locked" in text:
        return WorkError(f"The workspace database {label} was busy for more than {BUSY_TIMEOUT_S:.0f} s.")
    if "disk is full" in text or "disk i/o" in text:
        return WorkError(f"The workspace database {label} cannot be written ({reason}).", hint="Free some disk space.")
    if "connection" in text:
        return RequestError(
            f"The workspace database {label} cannot be reached ({reason}).", hint="Is the server running?"
        )
    return WorkError(f"The workspace database {label} refused a request ({reason}).")


def _reason(error: DBAPIError) -> str:
    return _first_line(error.orig if error.orig is not None else error)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def is_writable(folder: Path) -> bool:
    """Whether this process may create files in `folder`."""
    return os.access(folder, os.W_OK | os.X_OK)
