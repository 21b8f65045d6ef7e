"""*Dashboard*: how fast the page at `/` comes with many stored runs, over HTTP and with the sign-in.
Beside it the same with a hundred runs, as the time is not to grow with their number."""

from __future__ import annotations

import asyncio
import http.client
import secrets
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import sqlalchemy as sa

from benchmarks.result import Result, Row, percentile
from bot.app.server import web
from bot.app.worker import Worker
from bot.config import Settings
from bot.model import Issue, Repo
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.runs.spec import RunSpec
from bot.store.database.database import Database
from bot.store.database.tables import events, pull_runs, runs
from bot.web.browser_sessions import BrowserSessions
from bot.web.server import bind, server
from bot.web.stream import Streams

STATUSES = ("success",) * 5 + ("failed",) * 3 + ("cancelled",)
WAITING = 40
RUNNING = 20


@dataclass(frozen=True, slots=True)
class Size:
    """How many runs are stored, and how often the page is loaded."""

    runs: int = 10_000
    few: int = 100
    requests: int = 100


def measure(size: Size) -> Result:
    """Load the page with many runs and with few."""
    (many, cpu), (few, _) = _times_ms(size.runs, size.requests), _times_ms(size.few, size.requests)
    rows = (
        Row(f"{size.runs} runs : {size.few} runs, p50", median(many) / median(few), "×"),
        Row(f"dashboard, {size.runs} runs, p50", median(many), "ms"),
        Row(f"dashboard, {size.runs} runs, p95", percentile(many, 0.95), "ms", "at most", 100.0),
        Row(f"dashboard, {size.runs} runs, processor time of a page, the client's included", cpu, "ms"),
        Row(f"dashboard, {size.few} runs, p50", median(few), "ms"),
    )
    return Result("dashboard", size.requests, rows)


def _times_ms(count: int, requests: int) -> tuple[list[float], float]:
    """The time of each page, and the processor time of one."""
    token = secrets.token_hex(32)
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        database = Database(f"sqlite:///{Path(where) / 'mendbot.db'}")
        database.migrate()
        asyncio.run(database.write(lambda connection: fill(connection, count)))
        settings = Settings(app_id="1", webhook_secret=secrets.token_hex(32), home=Path(where), admin_token=token)
        streams = Streams()
        served = server(web(settings, database, Worker(settings, database), streams), streams.close)
        listener = bind("127.0.0.1", 0)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            before = time.process_time()
            times = _load(listener.getsockname()[1], BrowserSessions(token, secure=False), requests)
            return times, (time.process_time() - before) * 1000 / len(times)
        finally:
            served.should_exit = True
            thread.join()
            listener.close()
            database.close()


def _load(port: int, sessions: BrowserSessions, requests: int) -> list[float]:
    from starlette.responses import Response

    response = Response()
    sessions.write(response, sessions.operator())
    cookie = response.headers["set-cookie"].partition(";")[0]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times = []
    for _ in range(requests + 3):
        began = time.perf_counter()
        connection.request("GET", "/", headers={"Cookie": cookie, "Accept": "text/html"})
        answer = connection.getresponse()
        text = answer.read()
        times.append((time.perf_counter() - began) * 1000)
        assert answer.status == 200 and b'id="list-failed"' in text
    connection.close()
    return times[3:]


def fill(connection: sa.Connection, count: int) -> None:
    """Store runs of all states: four in five are fix runs, the others pull checks."""
    repos = [Repo(owner="octo", name=f"repo-{number}", installation_id=1) for number in range(20)]
    fixes, pulls, ends = [], [], []
    for number in range(count):
        repo, at = repos[number % len(repos)], 1_700_000_000_000 + number * 1000
        row = {"id": f"run-{number}", "repo": repo.full_name, "created_at": at, "reported": 1}
        status = STATUSES[number % len(STATUSES)]
        if number >= count - WAITING - RUNNING:
            status = "queued" if number >= count - WAITING else "running"
        row["ended_at"] = at + 60_000 if status in STATUSES else None
        if number % 5 == 4:
            sha = f"{number:040x}"
            spec = PullCheckSpec(repo=repo, number=number, title=f"Change {number}", head_sha=sha)
            own = {"number": number, "head_sha": sha, "status": "done" if status in STATUSES else status}
            pulls.append({**row, **own, "spec": spec.model_dump(mode="json")})
            continue
        issue = Issue(number=number, title=f"Issue {number}", body="It breaks. " * 100)
        run = RunSpec(repo=repo, issues=(issue,), base_branch="main", agents=("fixers", "history"))
        own = {"installation_id": 1, "status": status, "spec": run.model_dump(mode="json")}
        fixes.append({**row, **own, "branch": f"fix/issue-{number}"})
        if status == "success":
            data = {"data": {"status": "success", "proof": "proven", "shown": True}}
            ends.append({"type": "session_finished", "ts": "2026-11-23T12:00:00Z", "session_id": row["id"],
                         "data": data, "key": "session_finished"})  # fmt: skip
    for table, rows in ((runs, fixes), (pull_runs, pulls), (events, ends)):
        if rows:
            connection.execute(sa.insert(table), rows)
