"""Alembic migrations of the workspace database, run by `core.store.migrate`."""
