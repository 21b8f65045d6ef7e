"""runs of which GitHub has not heard the latest are found by an index"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "runs_untold",
        "runs",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("reported < version"),
        postgresql_where=sa.text("reported < version"),
    )
