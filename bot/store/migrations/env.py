"""Alembic's entry point. It needs no configuration file, since `store.database.database` passes the connection."""

from __future__ import annotations

from alembic import context

from bot.store.database.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
