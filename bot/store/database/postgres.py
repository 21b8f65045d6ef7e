"""How Postgres is connected to: no wait for it is endless, and of several processes that start at once one migrates."""

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
"""libpq's own (PostgreSQL, "Database Connection Control Functions"): seconds, and milliseconds for the last."""

_SERVER = {"statement_timeout": "30s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "60s"}

_MIGRATION_LOCK = 0x4D454E44
"""The key of the advisory lock ("Fix")."""
_MIGRATION_LIMIT = "10min"


def bounded(url: sa.URL) -> sa.URL:
    """The URL with a limit on connecting, on a connection that says nothing, on each statement, each wait for a lock
    and each forgotten transaction. What the operator's URL sets itself stays."""
    given = dict(url.query)
    theirs = given.pop("options", ())
    # of two settings of one name the later counts
    options = " ".join((_options(_SERVER), *((theirs,) if isinstance(theirs, str) else theirs)))
    return url.set(drivername="postgresql+psycopg", query={**_LIBPQ, **given, "options": options})


def bounded_arguments() -> dict[str, str]:
    """The same for the engine, as arguments of psycopg's; it waits for no lock for long by itself."""
    limits = {name: value for name, value in _SERVER.items() if name != "lock_timeout"}
    return {"application_name": "mendbot", **_LIBPQ, "options": _options(limits)}


def _options(settings: Mapping[str, str]) -> str:
    return " ".join(f"-c {name}={value}" for name, value in settings.items())


def lock_for_migration(connection: sa.Connection) -> None:
    """Wait until no other process migrates, and keep others out until this transaction ends; it may take longer than
    another. Raises OperationalError where another does not get ready."""
    for name in ("statement_timeout", "lock_timeout"):
        connection.execute(sa.select(sa.func.set_config(name, _MIGRATION_LIMIT, True)))
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
