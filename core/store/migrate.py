"""Brings the workspace database to this version's schema, also when several processes open it at once."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import Connection, inspect, text

from core.errors import RequestError, WorkError
from core.store.database import Database

NEWEST_REVISION = "0002"
LOCK_TIMEOUT_S = 60.0
_ADVISORY_LOCK = 0x6D697864  # "mixd": several machines may open one PostgreSQL database
_FOLDER = Path(__file__).parent / "migrations"


def migrate(database: Database, lock_file: Path) -> None:
    """Applies the missing revisions; returns at once when there are none.

    Raises:
        RequestError: the database was written by a newer version, or is no Mixdesk database.
        WorkError: another process did not finish its migration in a minute.
    """
    if _is_current(database):
        return
    try:
        with FileLock(lock_file, timeout=LOCK_TIMEOUT_S):
            if not _is_current(database):
                database.use_write_ahead_log()
                with database.writing() as connection:
                    _upgrade(connection)
    except Timeout as e:
        raise WorkError(f"Another process has been preparing the workspace for over {LOCK_TIMEOUT_S:.0f} s.") from e


def _is_current(database: Database) -> bool:
    with database.reading() as connection:
        revision = _revision(connection)
    if revision is not None and revision > NEWEST_REVISION:
        raise RequestError(
            f"The workspace database {database.label} was written by a newer Mixdesk (schema {revision}; this version "
            f"knows up to {NEWEST_REVISION}).",
            hint="Update Mixdesk, or choose another folder with --workspace.",
        )
    return revision == NEWEST_REVISION


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if revision is None else str(revision)


def _upgrade(connection: Connection) -> None:
    # imported here: it takes a while, and an up-to-date workspace does not need it
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        if _revision(connection) == NEWEST_REVISION:
            return
    config = Config()
    config.set_main_option("script_location", str(_FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
