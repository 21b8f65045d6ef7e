"""the error history: what resolved which error, the files it is about, and what did not help"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "error_kb",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("error_normalized", sa.Text(), nullable=False),
        sa.Column("error_raw", sa.Text(), nullable=True),
        sa.Column("resolution", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("resolved_by", sa.Text(), nullable=True),
        sa.Column("tool_sequence", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("use_count", sa.Integer(), server_default="1", nullable=False),
        sa.Column("last_used", sa.Text(), nullable=True),
        sa.Column("loose_key", sa.Text(), nullable=True),
        sa.Column("shown", sa.Integer(), server_default="0", nullable=False),
        sa.Column("passed", sa.Integer(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("error_normalized"),
    )
    op.create_index("error_kb_loose", "error_kb", ["loose_key", "last_used"], unique=False)
    op.create_table(
        "error_files",
        sa.Column("kb_id", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("last_used", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["kb_id"], ["error_kb.id"]),
        sa.PrimaryKeyConstraint("kb_id", "file_name"),
        sqlite_with_rowid=False,
    )
    op.create_index("error_files_recent", "error_files", ["file_name", "last_used"], unique=False)
    op.create_table(
        "error_dead_ends",
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("patch_hash", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), server_default="1", nullable=False),
        sa.PrimaryKeyConstraint("fingerprint", "patch_hash"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "events_tool_errors",
        "events",
        ["session_id", "ts"],
        unique=False,
        sqlite_where=sa.text("type = 'tool_error'"),
        postgresql_where=sa.text("type = 'tool_error'"),
    )
