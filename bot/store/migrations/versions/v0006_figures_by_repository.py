"""what is counted of a resolution is counted for each repository that has one"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# whose uses a row counted that several repositories have a part in, nobody can tell any more
_APART = "UPDATE error_kb SET use_count = 1, shown = 0, passed = 0 WHERE id IN (SELECT kb_id FROM error_elsewhere)"


def upgrade() -> None:
    for name, first in (("use_count", "1"), ("shown", "0"), ("passed", "0")):
        op.add_column("error_elsewhere", sa.Column(name, sa.Integer(), server_default=first, nullable=False))
    op.execute(_APART)
