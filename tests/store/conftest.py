"""The throw-away PostgreSQL server, where its binaries are found."""

from tests.contracts.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]
