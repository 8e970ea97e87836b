"""Named shapes and a baseline per model; a resumed job knows its forerunner; what is cached knows its model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "shapes",
        _model_key(),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("shapes", sa.JSON, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "baselines",
        _model_key(),
        sa.Column("candidate_id", sa.String(32), sa.ForeignKey("candidates.id", ondelete="CASCADE"), nullable=False),
    )
    op.add_column("jobs", sa.Column("resumes", sa.String(32)))
    op.add_column("cache", sa.Column("model_sha256", sa.String(64)))
    op.create_index("ix_cache_model", "cache", ["model_sha256"])


def _model_key() -> sa.Column[str]:
    link = sa.ForeignKey("models.sha256", ondelete="CASCADE")
    return sa.Column("model_sha256", sa.String(64), link, primary_key=True, nullable=False)
