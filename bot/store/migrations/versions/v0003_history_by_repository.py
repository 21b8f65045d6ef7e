"""whose resolution stands in a row of the error history, and beside it those that other repositories had before"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# rows that another program wrote need not be JSON; CASE alone keeps SQLite from looking into those
_FILL = {
    "sqlite": """
        UPDATE error_kb SET repo = CASE WHEN json_valid(resolution) THEN
            CASE json_type(resolution, '$.repo') WHEN 'text' THEN lower(json_extract(resolution, '$.repo')) END
        END WHERE resolution IS NOT NULL
    """,
    "postgresql": """
        UPDATE error_kb SET repo = CASE json_typeof(resolution -> 'repo') WHEN 'string'
            THEN lower(resolution ->> 'repo') END
        WHERE CASE WHEN json_typeof(resolution) = 'object' THEN resolution -> 'repo' END IS NOT NULL
    """,
}


def upgrade() -> None:
    op.add_column("error_kb", sa.Column("repo", sa.Text(), nullable=True))
    op.execute(_FILL[op.get_bind().dialect.name])
    op.create_table(
        "error_elsewhere",
        sa.Column("kb_id", sa.Integer(), nullable=False),
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("resolution", sa.JSON(), nullable=False),
        sa.Column("last_used", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["error_kb.id"]),
        sa.PrimaryKeyConstraint("kb_id", "repo"),
    )
