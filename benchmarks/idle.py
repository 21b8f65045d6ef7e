"""*Idle*: memory and processor time of a bot that has nothing to do, as /proc tells them.
Beside it, in the same seconds of the same machine: a bare web server, and the engine alone."""

from __future__ import annotations

import secrets
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row
from benchmarks.servers import Server, bot, python_reference
from demo.standin.server import StandIn

OURS, ENGINE, WEB = "Mendbot", "dbos alone", "Starlette alone"


@dataclass(frozen=True, slots=True)
class Size:
    """`settle_s` lets what happens once after the start be over."""

    rounds: int = 3
    seconds: float = 20.0
    settle_s: float = 5.0


def measure(size: Size) -> Result:
    """Watch all three at once, for `rounds` times `seconds`."""
    cpu: dict[str, list[float]] = {}
    rss: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where, ExitStack() as stack:
        root = Path(where)
        github = stack.enter_context(StandIn(root / "github", webhook_url=None, webhook_secret=secrets.token_hex(32)))
        with bot(github, root / "home"):
            pass  # the first start makes the database, with a tool that later starts do without
        servers: Mapping[str, Server] = {
            OURS: stack.enter_context(bot(github, root / "home")),
            ENGINE: stack.enter_context(python_reference("dbos_alone")),
            WEB: stack.enter_context(python_reference("starlette_without_database")),
        }
        time.sleep(size.settle_s)
        for _ in range(size.rounds):
            before, began = {name: server.usage() for name, server in servers.items()}, time.monotonic()
            time.sleep(size.seconds)
            for name, server in servers.items():
                usage = server.usage()
                share = (usage.cpu_s - before[name].cpu_s) / (time.monotonic() - began)
                cpu.setdefault(name, []).append(share * 100)
                rss.setdefault(name, []).append(usage.rss_mb)
    rows = [
        Row(f"{OURS}, resident memory", median(rss[OURS]), "MB", "at most", 120.0),
        Row(f"{OURS}, of one core", median(cpu[OURS]), "%", "at most", 6.0),
    ]
    for name in (ENGINE, WEB):
        rows += [
            Row(f"{name}, resident memory", median(rss[name]), "MB"),
            Row(f"{name}, of one core", median(cpu[name]), "%"),
        ]
    return Result("idle", size.rounds, tuple(rows), _notes(size))


def _notes(size: Size) -> tuple[str, ...]:
    return (f"{size.seconds:.0f} s a round; all three run at the same time; Mendbot in a home that is not new.",)
