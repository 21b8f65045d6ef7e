"""All tables; migrations in `migrations/` create them. `events` has the columns of the error-history seed (spec E), so
that the hook reads the table that runs write.

The condition of a partial index is given for SQLite only. The migrations give it for Postgres too; here that would load
the Postgres dialect on every server."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.database.check_tables import base_results, metadata, outcome_errors, outcomes, test_runs
from bot.store.database.usage_table import agent_usage

__all__ = [
    "agent_usage",
    "artifacts",
    "base_results",
    "candidates",
    "commands",
    "dead_ends",
    "deliveries",
    "error_elsewhere",
    "error_files",
    "error_kb",
    "error_trials",
    "events",
    "metadata",
    "outcome_errors",
    "outcomes",
    "paused_threads",
    "pinned_issues",
    "pull_approvals",
    "pull_heads",
    "pull_runs",
    "pushed_commits",
    "refused_deliveries",
    "reports",
    "run_issues",
    "runs",
    "test_runs",
]

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("because", sa.Text, nullable=False, server_default=""),
    sa.Column("received_at", sa.BigInteger, nullable=False),
    sa.Column("payload", sa.LargeBinary, nullable=False),
    sa.Index("deliveries_open", "received_at", sqlite_where=sa.text("status IN ('accepted', 'processing')")),
    sa.Index("deliveries_received", "received_at"),
)  # fmt: skip

refused_deliveries = sa.Table(
    "refused_deliveries", metadata, sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    *(sa.Column(name, sa.Text, nullable=False) for name in ("delivery", "event", "because")),
    sa.Column("received_at", sa.BigInteger, nullable=False),
)  # fmt: skip

candidates = sa.Table(
    "candidates", metadata,
    sa.Column("repo", sa.Text, primary_key=True), sa.Column("issue", sa.Integer, primary_key=True),
    sa.Column("installation_id", sa.BigInteger, nullable=False),
    *(sa.Column(name, sa.BigInteger, nullable=False) for name in ("first_at", "last_at", "quiet_ms")),
    # `asked_by`: the login of the person who added the label or commented the command; NULL if unknown
    sa.Column("since", sa.Text), sa.Column("asked_by", sa.Text),
)  # fmt: skip

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("repo", sa.Text, nullable=False),
    sa.Column("installation_id", sa.BigInteger, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("branch", sa.Text),
    sa.Column("spec", sa.JSON, nullable=False),
    sa.Column("waiting_for", sa.Text),
    sa.Column("cancel_because", sa.Text),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("reported", sa.BigInteger, nullable=False, server_default="0"),
    sa.UniqueConstraint("repo", "branch"),
    sa.Index("runs_status", "status", "created_at"),
    sa.Index("runs_untold", "created_at", sqlite_where=sa.text("reported < version")),
)  # fmt: skip

run_issues = sa.Table(
    "run_issues",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("issue", sa.Integer, primary_key=True),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("since", sa.Text),
    sa.Column("asked_by", sa.Text),
    sa.Index("run_issues_run", "run_id"),
)

events = sa.Table(
    "events",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("v", sa.Integer, nullable=False, server_default="1"),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("ts", sa.Text, nullable=False),
    sa.Column("session_id", sa.Text, nullable=False),
    sa.Column("project", sa.Text),
    sa.Column("project_path", sa.Text),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Column("key", sa.Text),
    sa.UniqueConstraint("session_id", "key"),
    sa.Index("events_session", "session_id", "id"),
    sa.Index("events_tool_errors", "session_id", "ts", sqlite_where=sa.text("type = 'tool_error'")),
    sqlite_autoincrement=True,
)  # fmt: skip

artifacts = sa.Table(
    "artifacts",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, nullable=False),
    sa.Column("phase", sa.Text, nullable=False),
    sa.Column("iteration", sa.Integer),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("data", sa.JSON, nullable=False),
    sa.Index("artifacts_session", "session_id"),
)

reports = sa.Table(
    "reports",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("target", sa.Text, primary_key=True),
    sa.Column("github_id", sa.BigInteger),
    sa.Column("digest", sa.Text, nullable=False),
)

error_kb = sa.Table(
    "error_kb",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("ts", sa.Text, nullable=False),
    sa.Column("error_normalized", sa.Text, nullable=False, unique=True),
    sa.Column("error_raw", sa.Text),
    sa.Column("resolution", sa.JSON(none_as_null=True)),
    sa.Column("resolved_by", sa.Text),
    sa.Column("tool_sequence", sa.JSON(none_as_null=True)),
    sa.Column("use_count", sa.Integer, nullable=False, server_default="1"),
    sa.Column("last_used", sa.Text),
    # not in the seed; a row without a loose key was written by another program and has no rows in error_files
    sa.Column("loose_key", sa.Text),
    sa.Column("shown", sa.Integer, nullable=False, server_default="0"),
    sa.Column("passed", sa.Integer, nullable=False, server_default="0"),
    # the repository of the resolution, in lower case; without one, every repository may see it
    sa.Column("repo", sa.Text),
    # the key of the error's leaf in the Drain tree (`rules.history.drain`)
    sa.Column("leaf", sa.Text),
    sa.Index("error_kb_loose", "loose_key", "last_used"),
    sa.Index("error_kb_leaf", "leaf", "last_used"),
    # covers a listing, which would read the patches of all rows else
    sa.Index("error_kb_resolved", "last_used", "repo", sqlite_where=sa.text("resolution NOTNULL")),
)

error_files = sa.Table(
    "error_files",
    metadata,
    sa.Column("kb_id", sa.Integer, sa.ForeignKey("error_kb.id"), primary_key=True),
    sa.Column("file_name", sa.Text, primary_key=True),
    sa.Column("last_used", sa.Text, nullable=False),
    sa.Index("error_files_recent", "file_name", "last_used"),
    sqlite_with_rowid=False,
)

error_elsewhere = sa.Table(
    "error_elsewhere",
    metadata,
    # resolutions that a later one of another repository has replaced in error_kb; `repo` as there, empty for none
    sa.Column("kb_id", sa.Integer, sa.ForeignKey("error_kb.id"), primary_key=True),
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("resolution", sa.JSON, nullable=False),
    sa.Column("last_used", sa.Text, nullable=False),
    # the figures of this resolution; error_kb has those of the resolution in its row
    sa.Column("use_count", sa.Integer, nullable=False, server_default="1"),
    sa.Column("shown", sa.Integer, nullable=False, server_default="0"),
    sa.Column("passed", sa.Integer, nullable=False, server_default="0"),
)

dead_ends = sa.Table(
    "error_dead_ends",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("patch_hash", sa.Text, primary_key=True),
    sa.Column("ts", sa.Text, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False, server_default="1"),
    sqlite_with_rowid=False,
)

error_trials = sa.Table(
    "error_trials", metadata,
    # one row for each run and known error (`error_kb.id`); `use_count` is that of the error at the time
    sa.Column("run_id", sa.Text, primary_key=True), sa.Column("kb_id", sa.Integer, primary_key=True),
    sa.Column("repo", sa.Text, nullable=False), sa.Column("use_count", sa.Integer, nullable=False),
    *(sa.Column(name, sa.Boolean, nullable=False) for name in ("withheld", "passed")),
    sa.Column("at", sa.BigInteger, nullable=False), sa.Index("error_trials_error", "kb_id", "repo"),
)  # fmt: skip

pull_runs = sa.Table(
    "pull_runs",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("repo", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("head_sha", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("spec", sa.JSON, nullable=False),
    sa.Column("cancel_because", sa.Text),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("ended_at", sa.BigInteger),
    sa.Column("version", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("reported", sa.BigInteger, nullable=False, server_default="0"),
    # prevents a second run of a head, even if two are requested at the same time
    sa.Index("pull_runs_working", "repo", "number", "head_sha", unique=True,
             sqlite_where=sa.text("status IN ('queued', 'running') AND cancel_because IS NULL")),
    sa.Index("pull_runs_of", "repo", "number", "created_at"),
    sa.Index("pull_runs_status", "status", "created_at"),
    sa.Index("pull_runs_untold", "created_at", sqlite_where=sa.text("reported < version")),
)  # fmt: skip

pull_approvals = sa.Table(
    "pull_approvals",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("head_sha", sa.Text, primary_key=True),
    sa.Column("approved_by", sa.Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
)

pull_heads = sa.Table(
    "pull_heads",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("head_sha", sa.Text, primary_key=True),
    sa.Column("at", sa.Text),
    # the newest head has the highest place
    sa.Column("place", sa.Integer, nullable=False),
    sa.Index("pull_heads_commit", "repo", "head_sha", "number"),
)

commands = sa.Table(
    "commands",
    metadata,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("repo", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("verb", sa.Text, nullable=False),
    sa.Column("answer", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("commands_author", "repo", "author", "at"),
)

paused_threads = sa.Table(
    "paused_threads",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("paused_by", sa.Text, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
)

pinned_issues = sa.Table(
    "pinned_issues",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("issue", sa.Integer, primary_key=True),
    sa.Column("together", sa.Text, nullable=False),
)

pushed_commits = sa.Table(
    "pushed_commits",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("sha", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("number", sa.Integer),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("pushed_commits_recent", "repo", "at"),
    sa.Index("pushed_commits_thread", "repo", "number", "at"),
)
