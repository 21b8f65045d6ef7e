"""All tables as the first release has them. Revisions before this one were never released."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _deliveries()
    _runs()
    _events()
    _usage()
    _history()
    _pulls()
    _outcomes()
    _people()


def _text(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.Text(), **{"nullable": False, **options})


def _int(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), **{"nullable": False, **options})


def _big(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.BigInteger(), **{"nullable": False, **options})


def _json(name: str, **options: Any) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(none_as_null=True), **{"nullable": False, **options})


def _key(*names: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*names)


def _index(name: str, table: str, columns: list[str], *, where: str | None = None, unique: bool = False) -> None:
    part = sa.text(where) if where else None
    op.create_index(name, table, columns, unique=unique, sqlite_where=part, postgresql_where=part)


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        *(_text(name) for name in ("id", "event", "status")),
        _text("because", server_default=""),
        _big("received_at"),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        _key("id"),
    )
    _index("deliveries_open", "deliveries", ["received_at"], where="status IN ('accepted', 'processing')")
    _index("deliveries_received", "deliveries", ["received_at"])
    op.create_table(
        "refused_deliveries",
        _int("id", autoincrement=True),
        *(_text(name) for name in ("delivery", "event", "because")),
        _big("received_at"),
        _key("id"),
    )
    op.create_table(
        "reports",
        _text("repo"),
        _text("target"),
        _big("github_id", nullable=True),
        _text("digest"),
        _key("repo", "target"),
    )


def _runs() -> None:
    op.create_table(
        "candidates",
        _text("repo"),
        _int("issue"),
        _big("installation_id"),
        *(_big(name) for name in ("first_at", "last_at", "quiet_ms")),
        _text("since", nullable=True),
        _text("asked_by", nullable=True),
        _key("repo", "issue"),
    )
    op.create_table(
        "runs",
        *(_text("id"), _text("repo"), _big("installation_id"), _text("status"), _text("branch", nullable=True)),
        _text("waiting_for", nullable=True),
        *_progress(),
        _key("id"),
        sa.UniqueConstraint("repo", "branch"),
    )
    _index("runs_status", "runs", ["status", "created_at"])
    _index("runs_untold", "runs", ["created_at"], where="reported < version")
    op.create_table(
        "run_issues",
        *(_text("repo"), _int("issue"), _text("run_id"), _text("since", nullable=True)),
        _text("asked_by", nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"]),
        _key("repo", "issue", "run_id"),
    )
    _index("run_issues_run", "run_issues", ["run_id"])


def _progress() -> list[sa.Column[Any]]:
    """The columns that both kinds of runs have."""
    return [
        _json("spec"),
        _text("cancel_because", nullable=True),
        _big("created_at"),
        _big("ended_at", nullable=True),
        _big("version", server_default="1"),
        _big("reported", server_default="0"),
    ]


def _events() -> None:
    op.create_table(
        "events",
        _int("id", autoincrement=True),
        _int("v", server_default="1"),
        *(_text(name) for name in ("type", "ts", "session_id")),
        *(_text(name, nullable=True) for name in ("project", "project_path")),
        _json("data"),
        _text("key", nullable=True),
        _key("id"),
        sa.UniqueConstraint("session_id", "key"),
        sqlite_autoincrement=True,
    )
    _index("events_session", "events", ["session_id", "id"])
    _index("events_tool_errors", "events", ["session_id", "ts"], where="type = 'tool_error'")
    op.create_table(
        "artifacts",
        *(_text(name) for name in ("id", "session_id", "phase")),
        _int("iteration", nullable=True),
        _big("created_at"),
        _json("data"),
        _key("id"),
    )
    _index("artifacts_session", "artifacts", ["session_id"])


def _usage() -> None:
    op.create_table(
        "agent_usage",
        *(_text(name) for name in ("day", "repo", "run_id", "agent")),
        *(_int("calls"), _int("uncounted"), _big("duration_ms"), _big("input_tokens"), _big("output_tokens")),
        *(_big("unpriced_tokens"), _big("cost_micros")),
        _key("day", "repo", "run_id", "agent"),
    )
    _index("agent_usage_run", "agent_usage", ["run_id"])


def _history() -> None:
    op.create_table(
        "error_kb",
        _int("id", autoincrement=True),
        *(_text("ts"), _text("error_normalized"), _text("error_raw", nullable=True)),
        *(_json("resolution", nullable=True), _text("resolved_by", nullable=True)),
        *(_json("tool_sequence", nullable=True), _int("use_count", server_default="1")),
        *(_text("last_used", nullable=True), _text("loose_key", nullable=True)),
        *(_int(name, server_default="0") for name in ("shown", "passed")),
        *(_text("repo", nullable=True), _text("leaf", nullable=True)),
        _key("id"),
        sa.UniqueConstraint("error_normalized"),
    )
    _index("error_kb_loose", "error_kb", ["loose_key", "last_used"])
    _index("error_kb_leaf", "error_kb", ["leaf", "last_used"])
    _index("error_kb_resolved", "error_kb", ["last_used", "repo"], where="resolution NOTNULL")
    op.create_table(
        "error_files",
        *(_int("kb_id"), _text("file_name"), _text("last_used")),
        sa.ForeignKeyConstraint(["kb_id"], ["error_kb.id"]),
        _key("kb_id", "file_name"),
        sqlite_with_rowid=False,
    )
    _index("error_files_recent", "error_files", ["file_name", "last_used"])
    op.create_table(
        "error_elsewhere",
        *(_int("kb_id"), _text("repo"), _json("resolution"), _text("last_used")),
        _int("use_count", server_default="1"),
        *(_int(name, server_default="0") for name in ("shown", "passed")),
        sa.ForeignKeyConstraint(["kb_id"], ["error_kb.id"]),
        _key("kb_id", "repo"),
    )
    op.create_table(
        "error_dead_ends",
        *(_text(name) for name in ("fingerprint", "patch_hash", "ts")),
        _int("tries", server_default="1"),
        _key("fingerprint", "patch_hash"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "error_trials",
        *(_text("run_id"), _int("kb_id"), _text("repo"), _int("use_count")),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("withheld", "passed")),
        *(_big("at"), _key("run_id", "kb_id")),
    )
    _index("error_trials_error", "error_trials", ["kb_id", "repo"])


def _pulls() -> None:
    op.create_table(
        "pull_runs",
        *(_text("id"), _text("repo"), _int("number"), _text("head_sha"), _text("status")),
        *_progress(),
        _key("id"),
    )
    _index("pull_runs_of", "pull_runs", ["repo", "number", "created_at"])
    _index("pull_runs_status", "pull_runs", ["status", "created_at"])
    _index("pull_runs_untold", "pull_runs", ["created_at"], where="reported < version")
    working = "status IN ('queued', 'running') AND cancel_because IS NULL"
    _index("pull_runs_working", "pull_runs", ["repo", "number", "head_sha"], where=working, unique=True)
    op.create_table(
        "pull_approvals",
        *(_text("repo"), _int("number"), _text("head_sha"), _text("approved_by"), _big("at")),
        _key("repo", "number", "head_sha"),
    )
    op.create_table(
        "pull_heads",
        *(_text("repo"), _int("number"), _text("head_sha"), _text("at", nullable=True), _int("place")),
        _key("repo", "number", "head_sha"),
    )
    _index("pull_heads_commit", "pull_heads", ["repo", "head_sha", "number"])


def _outcomes() -> None:
    op.create_table(
        "check_outcomes",
        *(_int("id", autoincrement=True), _text("repo"), _int("number", nullable=True)),
        *(_text(name) for name in ("stage", "sha", "run_id", "outcome")),
        *(_json("errors"), _int("shown"), _big("at")),
        _key("id"),
        sa.UniqueConstraint("run_id", "stage"),
        sqlite_autoincrement=True,
    )
    _index("check_outcomes_age", "check_outcomes", ["at"])
    _index("check_outcomes_pull", "check_outcomes", ["repo", "number", "stage", "at"])
    _index("check_outcomes_rate", "check_outcomes", ["repo", "stage", "outcome", "shown"])
    op.create_table(
        "outcome_errors",
        *(_text(name) for name in ("repo", "error", "run_id", "stage")),
        *(_int("number", nullable=True), _big("at")),
        _key("repo", "error", "run_id", "stage"),
        sqlite_with_rowid=False,
    )
    _index("outcome_errors_age", "outcome_errors", ["at"])
    op.create_table(
        "base_results",
        *(_text(name) for name in ("repo", "sha", "stage", "command")),
        *(sa.Column("passed", sa.Boolean(), nullable=True), _json("errors"), _big("at")),
        _key("repo", "sha", "stage", "command"),
    )
    op.create_table(
        "test_runs",
        *(_text(name) for name in ("repo", "stage", "test", "sha", "place")),
        *(_int("failed"), _int("passed"), _big("at")),
        _key("repo", "stage", "test", "sha", "place"),
    )
    _index("test_runs_age", "test_runs", ["repo", "at"])


def _people() -> None:
    op.create_table(
        "commands",
        *(_text("id"), _text("repo"), _int("number"), _text("author"), _text("verb"), _text("answer")),
        *(_text("outcome", nullable=True), _big("at")),
        _key("id"),
    )
    _index("commands_author", "commands", ["repo", "author", "at"])
    op.create_table(
        "paused_threads",
        *(_text("repo"), _int("number"), _text("paused_by"), _big("at")),
        _key("repo", "number"),
    )
    op.create_table(
        "pinned_issues",
        *(_text("repo"), _int("issue"), _text("together")),
        _key("repo", "issue"),
    )
    op.create_table(
        "pushed_commits",
        *(_text("repo"), _text("sha"), _text("run_id"), _int("number", nullable=True), _big("at")),
        _key("repo", "sha"),
    )
    _index("pushed_commits_recent", "pushed_commits", ["repo", "at"])
    _index("pushed_commits_thread", "pushed_commits", ["repo", "number", "at"])
