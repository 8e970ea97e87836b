"""Runs the revisions on the connection that `core.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from core.store.tables import METADATA


def run() -> None:
    context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
    with context.begin_transaction():
        context.run_migrations()


if __name__ == "env_py":  # the name under which Alembic runs this file
    run()
