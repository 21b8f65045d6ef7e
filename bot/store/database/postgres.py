"""Settings of Postgres connections: every wait has a timeout, and only one process at a time migrates."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

_LIBPQ = {
    "connect_timeout": "10",
    "keepalives": "1",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""Parameters of libpq (PostgreSQL, "Database Connection Control Functions"), in seconds; the last in milliseconds."""

_SERVER = {"statement_timeout": "30s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "60s"}

_MIGRATION_LOCK = 0x4D454E44
"""The key of the advisory lock ("MEND" in ASCII)."""
_WORKER_LOCK = 0x4D454E57
_MIGRATION_LIMIT = "10min"


def bounded(url: sa.URL) -> sa.URL:
    """The URL with timeouts for connecting, dead connections, statements, locks and idle transactions. Settings in the
    operator's own URL take precedence."""
    query = dict(url.query)
    own_options = query.pop("options", ())
    # where two options set the same name, Postgres uses the later
    options = " ".join((_options(_SERVER), *((own_options,) if isinstance(own_options, str) else own_options)))
    return url.set(drivername="postgresql+psycopg", query={**_LIBPQ, **query, "options": options})


def bounded_arguments() -> dict[str, str]:
    """The same timeouts for the workflow engine, as arguments of psycopg, without that for locks."""
    limits = {name: value for name, value in _SERVER.items() if name != "lock_timeout"}
    return {"application_name": "mendbot", **_LIBPQ, "options": _options(limits)}


def _options(settings: Mapping[str, str]) -> str:
    return " ".join(f"-c {name}={value}" for name, value in settings.items())


def lock_for_worker(connection: sa.Connection) -> bool:
    """Take the lock of the one process that works on this database; returns False if another one has it.

    It is held as long as the connection lasts."""
    taken = connection.scalar(sa.select(sa.func.pg_try_advisory_lock(_WORKER_LOCK)))
    connection.commit()
    return bool(taken)


def lock_for_migration(connection: sa.Connection) -> None:
    """Take the migration lock until this transaction ends, and raise the transaction's timeouts to ten minutes.

    Raises OperationalError if another process holds the lock longer than that."""
    for name in ("statement_timeout", "lock_timeout"):
        connection.execute(sa.select(sa.func.set_config(name, _MIGRATION_LIMIT, True)))
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
