"""pull requests: runs of their checks, approvals, outcomes, commands and what threads settled"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _runs()
    _heads()
    _outcomes()
    _people()


def _runs() -> None:
    op.create_table(
        "pull_runs",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("waiting_for", sa.Text(), nullable=True),
        sa.Column("cancel_because", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("reported", sa.BigInteger(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("pull_runs_of", "pull_runs", ["repo", "number", "created_at"], unique=False)
    op.create_index("pull_runs_status", "pull_runs", ["status"], unique=False)
    op.create_index(
        "pull_runs_untold",
        "pull_runs",
        ["created_at"],
        unique=False,
        sqlite_where=sa.text("reported < version"),
        postgresql_where=sa.text("reported < version"),
    )
    op.create_index(
        "pull_runs_working",
        "pull_runs",
        ["repo", "number", "head_sha"],
        unique=True,
        sqlite_where=sa.text("status IN ('queued', 'running') AND cancel_because IS NULL"),
        postgresql_where=sa.text("status IN ('queued', 'running') AND cancel_because IS NULL"),
    )


def _heads() -> None:
    op.create_table(
        "pull_approvals",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("approved_by", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "number", "head_sha"),
    )
    op.create_table(
        "pull_heads",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("head_sha", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=True),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "number", "head_sha"),
    )
    op.create_index("pull_heads_commit", "pull_heads", ["repo", "head_sha", "number"], unique=False)


def _outcomes() -> None:
    op.create_table(
        "check_outcomes",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("sha", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("shown", sa.Integer(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("run_id", "stage"),
        sqlite_autoincrement=True,
    )
    op.create_index("check_outcomes_age", "check_outcomes", ["at"], unique=False)
    op.create_index("check_outcomes_pull", "check_outcomes", ["repo", "number", "stage", "at"], unique=False)
    op.create_index("check_outcomes_rate", "check_outcomes", ["repo", "stage", "outcome", "shown"], unique=False)
    op.create_table(
        "outcome_errors",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "error", "run_id", "stage"),
        sqlite_with_rowid=False,
    )
    op.create_index("outcome_errors_age", "outcome_errors", ["at"], unique=False)
    op.create_table(
        "base_results",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("sha", sa.Text(), nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("command", sa.Text(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=True),
        sa.Column("errors", sa.JSON(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "sha", "stage", "command"),
    )


def _people() -> None:
    op.create_table(
        "commands",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("verb", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("commands_author", "commands", ["repo", "author", "at"], unique=False)
    op.create_table(
        "paused_threads",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("paused_by", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "number"),
    )
    op.create_table(
        "pinned_issues",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("issue", sa.Integer(), nullable=False),
        sa.Column("together", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "issue"),
    )
    op.create_table(
        "pushed_commits",
        sa.Column("repo", sa.Text(), nullable=False),
        sa.Column("sha", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("repo", "sha"),
    )
    op.create_index("pushed_commits_recent", "pushed_commits", ["repo", "at"], unique=False)
    op.create_index("pushed_commits_thread", "pushed_commits", ["repo", "number", "at"], unique=False)
