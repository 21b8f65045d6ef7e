"""The server of the pages with a database of a benchmark's own, on a thread of this process, and the time of a page."""

from __future__ import annotations

import asyncio
import http.client
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from bot.app.server import web
from bot.app.worker import Worker
from bot.config import Settings
from bot.store.database.database import Database
from bot.web.browser_sessions import BrowserSessions
from bot.web.server import bind, server
from bot.web.stream import Streams


@dataclass(frozen=True, slots=True)
class PageServer:
    """A server that runs. Its worker does not: it only announces stored events."""

    port: int
    token: str
    database: Database
    worker: Worker


@contextmanager
def page_server(fill: Callable[[sa.Connection], None] = lambda _: None) -> Iterator[PageServer]:
    """A server whose database `fill` has filled, gone afterwards."""
    token = secrets.token_hex(32)
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        database = Database(f"sqlite:///{Path(where) / 'mendbot.db'}")
        database.migrate()
        asyncio.run(database.write(fill))
        settings = Settings(app_id="1", webhook_secret=secrets.token_hex(32), home=Path(where), admin_token=token)
        worker, streams = Worker(settings, database), Streams()
        served = server(web(settings, database, worker, streams), streams.close)
        listener = bind("127.0.0.1", 0)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield PageServer(listener.getsockname()[1], token, database, worker)
        finally:
            served.should_exit = True
            thread.join()
            listener.close()
            database.close()


def page_times_ms(
    fill: Callable[[sa.Connection], None], path: str, part: bytes, requests: int
) -> tuple[list[float], float]:
    """The time of each load of a page, which must have that part, and the processor time of one."""
    with page_server(fill) as running:
        before = time.process_time()
        times = _load(running, path, part, requests)
        return times, (time.process_time() - before) * 1000 / len(times)


def _load(running: PageServer, path: str, part: bytes, requests: int) -> list[float]:
    from starlette.responses import Response

    response, sessions = Response(), BrowserSessions(running.token, secure=False)
    sessions.write(response, sessions.operator())
    cookie = response.headers["set-cookie"].partition(";")[0]
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    times = []
    for _ in range(requests + 3):
        began = time.perf_counter()
        connection.request("GET", path, headers={"Cookie": cookie, "Accept": "text/html"})
        answer = connection.getresponse()
        text = answer.read()
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status == 200 and part in text
    connection.close()
    return times[3:]
