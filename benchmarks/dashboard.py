"""*Dashboard*: how fast the page at `/` comes with many stored runs, over HTTP and with the sign-in.
Beside it the same with a hundred runs, as the time is not to grow with their number."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

import sqlalchemy as sa

from benchmarks.page_server import page_times_ms
from benchmarks.result import Result, Row, percentile
from bot.model import Issue, Repo
from bot.rules.pulls.check_spec import PullCheckSpec
from bot.rules.runs.spec import RunSpec
from bot.store.database.tables import events, pull_runs, runs

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
    return page_times_ms(lambda connection: fill(connection, count), "/", b'id="list-failed"', requests)


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
