"""The first schema: models, data, jobs with partial results, candidates, mixes, cache."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    _create_models_and_data()
    _create_jobs()
    _create_results()


def _model_key(*, primary_key: bool = False) -> sa.Column[str]:
    link = sa.ForeignKey("models.sha256", ondelete="CASCADE")
    return sa.Column("model_sha256", sa.String(64), link, primary_key=primary_key, nullable=False)


def _create_models_and_data() -> None:
    op.create_table(
        "models",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_table(
        "datasets",
        sa.Column("sha256", sa.String(64), primary_key=True),
        _model_key(primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("size_bytes", sa.BigInteger, nullable=False),
        sa.Column("synthetic", sa.Boolean, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("params", sa.JSON, nullable=False),
        sa.Column("model_sha256", sa.String(64)),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("fraction", sa.Float),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("what", sa.Text, nullable=False),
        sa.Column("eta_s", sa.Float),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("finished_at", MOMENT),
        sa.Column("pid", sa.Integer),
        sa.Column("result", sa.JSON),
        sa.Column("error", sa.JSON),
        sa.Column("log", sa.Text, nullable=False),
        sa.Column("stop_requested", sa.Boolean, nullable=False),
        sa.Column("host", sa.Text),
        sa.Column("supervisor_pid", sa.Integer),
        sa.Column("supervisor_started", sa.Float),
        sa.Column("heartbeat_at", MOMENT),
    )
    op.create_index("ix_jobs_state_created", "jobs", ["state", "created_at"])
    op.create_index("ix_jobs_model", "jobs", ["model_sha256"])
    op.create_table(
        "partials",
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("value", sa.JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )


def _create_results() -> None:
    op.create_table(
        "candidates",
        sa.Column("id", sa.String(32), primary_key=True),
        _model_key(),
        sa.Column("dataset_sha256", sa.String(64)),
        sa.Column("file_sha256", sa.String(64), nullable=False),
        sa.Column("recipe", sa.JSON, nullable=False),
        sa.Column("plan", sa.JSON, nullable=False),
        sa.Column("report", sa.JSON, nullable=False),
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id", ondelete="SET NULL")),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
    )
    op.create_index("ix_candidates_model", "candidates", ["model_sha256"])
    op.create_table(
        "mixes",
        _model_key(primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("recipe", sa.JSON, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )
    op.create_table(
        "cache",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.JSON, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
    )
