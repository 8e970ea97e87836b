"""The tables of the workspace database (schema of the newest migration)."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

METADATA = MetaData()


class UtcDateTime(TypeDecorator[datetime]):
    """A time that is UTC in the database and carries its zone in Python, also on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Converts to UTC; SQLite gets it without the zone."""
        if value is None:
            return None
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Gives the zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _json() -> JSON:
    return JSON(none_as_null=True)


MODELS = Table(
    "models",
    METADATA,
    Column("sha256", String(64), primary_key=True),
    Column("name", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("origin", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

DATASETS = Table(
    "datasets",
    METADATA,
    Column("sha256", String(64), primary_key=True),
    Column("model_sha256", String(64), ForeignKey("models.sha256", ondelete="CASCADE"), primary_key=True),
    Column("name", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("synthetic", Boolean, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

JOBS = Table(
    "jobs",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("title", Text, nullable=False),
    Column("params", _json(), nullable=False),
    Column("model_sha256", String(64)),
    Column("state", String(16), nullable=False),
    Column("fraction", Float),
    Column("phase", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("eta_s", Float),
    Column("created_at", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("pid", Integer),
    Column("result", _json()),
    Column("error", _json()),
    Column("log", Text, nullable=False),
    Column("stop_requested", Boolean, nullable=False),
    Column("host", Text),
    Column("supervisor_pid", Integer),
    Column("supervisor_started", Float),
    Column("heartbeat_at", UtcDateTime),
    Column("resumes", String(32)),
    Index("ix_jobs_state_created", "state", "created_at"),
    Index("ix_jobs_model", "model_sha256"),
)

PARTIALS = Table(
    "partials",
    METADATA,
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("value", _json(), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
)

CANDIDATES = Table(
    "candidates",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("model_sha256", String(64), ForeignKey("models.sha256", ondelete="CASCADE"), nullable=False),
    Column("dataset_sha256", String(64)),
    Column("file_sha256", String(64), nullable=False),
    Column("recipe", _json(), nullable=False),
    Column("plan", _json(), nullable=False),
    Column("report", _json(), nullable=False),
    Column("job_id", String(32), ForeignKey("jobs.id", ondelete="SET NULL")),
    Column("created_at", UtcDateTime, nullable=False),
    Column("name", Text, nullable=False),
    Index("ix_candidates_model", "model_sha256"),
)

MIXES = Table(
    "mixes",
    METADATA,
    Column("model_sha256", String(64), ForeignKey("models.sha256", ondelete="CASCADE"), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("recipe", _json(), nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)

SHAPES = Table(
    "shapes",
    METADATA,
    Column("model_sha256", String(64), ForeignKey("models.sha256", ondelete="CASCADE"), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("shapes", _json(), nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
)

BASELINES = Table(
    "baselines",
    METADATA,
    Column("model_sha256", String(64), ForeignKey("models.sha256", ondelete="CASCADE"), primary_key=True),
    Column("candidate_id", String(32), ForeignKey("candidates.id", ondelete="CASCADE"), nullable=False),
)

CACHE = Table(
    "cache",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("value", _json(), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("model_sha256", String(64)),
    Index("ix_cache_model", "model_sha256"),
)
