"""The tables of what checks showed: their outcomes, the results on base commits, and the runs of failing tests.

They belong to the tables of `tables.py`."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()
"""Of all tables of the database."""

outcomes = sa.Table(
    "check_outcomes",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("repo", sa.Text, nullable=False),
    sa.Column("number", sa.Integer),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("sha", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("errors", sa.JSON, nullable=False),
    # how many of the errors have a row in outcome_errors
    sa.Column("shown", sa.Integer, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.UniqueConstraint("run_id", "stage"),
    sa.Index("check_outcomes_rate", "repo", "stage", "outcome", "shown"),
    sa.Index("check_outcomes_pull", "repo", "number", "stage", "at"),
    sa.Index("check_outcomes_age", "at"),
    sqlite_autoincrement=True,
)

outcome_errors = sa.Table(
    "outcome_errors",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("error", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("stage", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("outcome_errors_age", "at"),
    sqlite_with_rowid=False,
)

base_results = sa.Table(
    "base_results",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("sha", sa.Text, primary_key=True),
    sa.Column("stage", sa.Text, primary_key=True),
    sa.Column("command", sa.Text, primary_key=True),
    sa.Column("passed", sa.Boolean),
    sa.Column("errors", sa.JSON, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
)

test_runs = sa.Table(
    "test_runs",
    metadata,
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("stage", sa.Text, primary_key=True),
    sa.Column("test", sa.Text, primary_key=True),
    sa.Column("sha", sa.Text, primary_key=True),
    sa.Column("place", sa.Text, primary_key=True),
    sa.Column("failed", sa.Integer, nullable=False),
    sa.Column("passed", sa.Integer, nullable=False),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Index("test_runs_age", "repo", "at"),
)
