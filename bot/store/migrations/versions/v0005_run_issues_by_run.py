"""the threads of a run are found by its id, also by the database itself when the run goes"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("run_issues_run", "run_issues", ["run_id"], unique=False)
