"""Alembic's entry; the connection is handed in by `store.database.database`, so there is no configuration file."""

from __future__ import annotations

from alembic import context

from bot.store.database.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
