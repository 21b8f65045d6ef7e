"""*Webhook acknowledgement*: how fast signed deliveries are answered, each answer after a durable commit.
The references answer without storing anything; ours pays for the disk and for the work behind the answer."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median

from benchmarks import payload
from benchmarks.load import Plan, Report
from benchmarks.node import install, node_reference
from benchmarks.result import Result, Row, ratio_row
from benchmarks.servers import ROOT, Server, bot, python_reference
from bot import proc
from demo.standin.server import StandIn

OURS, FLOOR, OCTOKIT, PROBOT = "Mendbot", "Starlette without a database", "@octokit/webhooks", "Probot"
CONNECTIONS = 50
PACE = 100.0
_DRAIN_S = 600.0


@dataclass(frozen=True, slots=True)
class Size:
    """How much to measure; the tests use a tiny one."""

    rounds: int = 5
    seconds: float = 3.0
    warm_s: float = 1.0
    paced_s: float = 6.0
    node: bool = True


@dataclass(slots=True)
class _Measured:
    flood: list[Report] = field(default_factory=list)
    paced: list[Report] = field(default_factory=list)
    handled_per_s: list[float] = field(default_factory=list)


def measure(size: Size) -> Result:
    """Flood every server in turn, round by round; ours is also paced, and its rows are counted after a SIGKILL."""
    if size.node:
        install()
    secret = secrets.token_hex(32)
    measured: dict[str, _Measured] = {}
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        with StandIn(root / "github", webhook_url=None, webhook_secret=secret) as github:
            servers = _servers(github, root, secret, size.node)
            for number in range(size.rounds):
                for name, start in servers.items():
                    _round(github, root, name, start, measured.setdefault(name, _Measured()), (number, size))
    return _result(size, measured)


def _servers(
    github: StandIn, root: Path, secret: str, node: bool
) -> Mapping[str, Callable[[int], AbstractContextManager[Server]]]:
    starts: dict[str, Callable[[int], AbstractContextManager[Server]]] = {
        FLOOR: lambda _: python_reference("starlette_without_database", WEBHOOK_SECRET=secret),
        OURS: lambda number: bot(github, root / f"home-{number}"),
    }
    if node:
        app = {"APP_ID": str(github.app_id), "PRIVATE_KEY": github.private_key_pem, "WEBHOOK_SECRET": secret}
        starts[OCTOKIT] = lambda _: node_reference("octokit", WEBHOOK_SECRET=secret)
        starts[PROBOT] = lambda _: node_reference("probot", **app)
    return starts


def _round(
    github: StandIn,
    root: Path,
    name: str,
    start: Callable[[int], AbstractContextManager[Server]],
    into: _Measured,
    which: tuple[int, Size],
) -> None:
    number, size = which
    plan = Plan(
        port=0,
        secret=github.webhook_secret,
        target=github.app_id,
        prefix=f"paced-{number}",
        connections=CONNECTIONS,
        seconds=size.paced_s,
        warm_s=size.warm_s,
        rate=PACE,
    )
    flood = {"prefix": f"flood-{number}", "seconds": size.seconds, "rate": 0.0}
    database = root / f"home-{number}" / "mendbot.db"
    acknowledged: dict[str, int] = {}
    with start(number) as server:
        into.paced.append(_load(plan, server.port))
        acknowledged[plan.prefix] = into.paced[-1].acknowledged
        into.flood.append(_load(plan, server.port, **flood))
        acknowledged[f"flood-{number}"] = into.flood[-1].acknowledged
        if name == OURS and number == 0:
            into.handled_per_s.append(_drained(database))
    if name == OURS:
        _count(database, acknowledged)


def _load(plan: Plan, port: int, **changes: object) -> Report:
    text = json.dumps(asdict(plan) | {"port": port} | changes).encode()
    argv = (sys.executable, "-m", "benchmarks.load")
    env = {"PATH": os.environ["PATH"]}
    result = asyncio.run(proc.run(argv, cwd=ROOT, env=env, timeout_s=300, stdin=text, merge_stderr=False))
    if result.exit_code != 0:
        raise RuntimeError(f"the load client failed: {result.errors.decode(errors='replace')[-2000:]}")
    report = Report(**json.loads(result.output))
    if report.refused or not report.acknowledged:
        raise RuntimeError(f"{report.refused} deliveries were refused, {report.acknowledged} acknowledged")
    return report


def _drained(database: Path) -> float:
    """Wait until everything stored is handled; how many a second that were, from now on."""
    query = "SELECT count(*) FROM deliveries WHERE status IN ('accepted', 'processing')"
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        began = time.monotonic()
        waiting = first = connection.execute(query).fetchone()[0]
        while waiting and time.monotonic() - began < _DRAIN_S:
            time.sleep(0.1)
            waiting = connection.execute(query).fetchone()[0]
    finally:
        connection.close()
    if waiting:
        raise RuntimeError(f"{waiting} deliveries are not handled after {_DRAIN_S:.0f} s")
    return float(first) / max(time.monotonic() - began, 0.001)


def _count(database: Path, acknowledged: Mapping[str, int]) -> None:
    """Every 202 is a row, with its whole body, after the process was killed; raises RuntimeError if one is not."""
    connection = sqlite3.connect(database)
    try:
        for prefix, wanted in acknowledged.items():
            query = "SELECT count(*) FROM deliveries WHERE id LIKE ? AND length(payload) = ?"
            found = connection.execute(query, (f"{prefix}-%", payload.SIZE)).fetchone()[0]
            if found != wanted:
                raise RuntimeError(f"{wanted} deliveries were acknowledged, {found} are stored")
    finally:
        connection.close()


def _result(size: Size, measured: Mapping[str, _Measured]) -> Result:
    ours = measured[OURS]
    rows = []
    for name, goal in ((FLOOR, 0.4), (PROBOT, 3.0), (OCTOKIT, 2.0)):
        if name in measured:
            theirs = [report.per_second for report in measured[name].flood]
            mine = [report.per_second for report in ours.flood]
            rows.append(ratio_row(f"deliveries a second, {OURS} : {name}", mine, theirs, "at least", goal))
    rows.append(
        Row(f"{OURS}, paced at {PACE:.0f} a second, p99", median(r.p99_ms for r in ours.paced), "ms", "at most", 25.0)
    )
    for name, values in measured.items():
        rows += [
            Row(f"{name}, deliveries a second", median(report.per_second for report in values.flood)),
            Row(f"{name}, flooded, p50", median(report.p50_ms for report in values.flood), "ms"),
            Row(f"{name}, flooded, p99", median(report.p99_ms for report in values.flood), "ms"),
            Row(f"{name}, paced, p50", median(report.p50_ms for report in values.paced), "ms"),
        ]
        if name != OURS:
            rows.append(Row(f"{name}, paced, p99", median(report.p99_ms for report in values.paced), "ms"))
    rows.append(Row(f"{OURS}, the backlog of a flood handled, deliveries a second", median(ours.handled_per_s)))
    stored = sum(report.acknowledged for report in (*ours.flood, *ours.paced))
    notes = (
        f"{payload.SIZE:,} bytes each, {CONNECTIONS} connections kept open, signature verified, JSON parsed.",
        f"All {stored:,} deliveries that {OURS} acknowledged were rows with their body after it was killed.",
        "Load client, server and stand-in share the machine; each server runs alone with them.",
    )
    return Result("webhook acknowledgement", size.rounds, tuple(rows), notes)
