"""The table of what agents and models used: one row for each day, repository, run and agent."""

from __future__ import annotations

import sqlalchemy as sa

from bot.store.database.check_tables import metadata

agent_usage = sa.Table(
    "agent_usage",
    metadata,
    # UTC, as 2026-01-31; empty for the sum of days that are long over, which has no repository and no run either
    sa.Column("day", sa.Text, primary_key=True),
    sa.Column("repo", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("agent", sa.Text, primary_key=True),
    sa.Column("calls", sa.Integer, nullable=False),
    # calls that named neither tokens nor cost
    sa.Column("uncounted", sa.Integer, nullable=False),
    sa.Column("duration_ms", sa.BigInteger, nullable=False),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    # tokens of calls whose cost is unknown
    sa.Column("unpriced_tokens", sa.BigInteger, nullable=False),
    # millionths of a US dollar
    sa.Column("cost_micros", sa.BigInteger, nullable=False),
    sa.Index("agent_usage_run", "run_id"),
)
