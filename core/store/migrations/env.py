"""Runs the revisions on the connection that `core.store.migrate` hands over."""

from __future__ import annotations

from alembic import context

from core.store.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
