"""the looser keys of known errors are made anew, as they tell opposites apart"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from bot.rules.error_text import loose_key

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_BATCH = 500
# a key without a masked value is the same as before; NULL is another program's row, which gets its key elsewhere
_MASKED = sa.text(
    "SELECT id, error_normalized, loose_key FROM error_kb WHERE id > :last"
    " AND (loose_key LIKE '%<N>%' OR loose_key LIKE '%<STR>%') ORDER BY id LIMIT :most"
)


def upgrade() -> None:
    connection, last = op.get_bind(), 0
    while rows := connection.execute(_MASKED, {"last": last, "most": _BATCH}).all():
        changed = [
            {"id": row.id, "key": key} for row in rows if (key := loose_key(row.error_normalized)) != row.loose_key
        ]
        if changed:
            connection.execute(sa.text("UPDATE error_kb SET loose_key = :key WHERE id = :id"), changed)
        last = rows[-1].id
