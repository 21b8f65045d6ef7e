"""*Start-up*: from `mendbot serve` to the first answer of /healthz, in a new home and in one with a database."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.result import Result, Row
from benchmarks.servers import ROOT
from demo.bot_process import bot_environment, free_port
from demo.standin.server import StandIn

GOAL_S = 1.5
_POLL_S = 0.005
_TICKS = 100


@dataclass(frozen=True, slots=True)
class Size:
    """How often each start is measured."""

    rounds: int = 5


def measure(size: Size) -> Result:
    """Starts in turn: in a new home, then again in the same."""
    fresh: list[tuple[float, float]] = []
    again: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        with StandIn(root / "github", webhook_url=None, webhook_secret=secrets.token_hex(32)) as github:
            for number in range(size.rounds):
                home = root / f"home-{number}"
                fresh.append(_start(github, home))
                again.append(_start(github, home))
    rows = (
        Row("new home, start to the first answer", median(wall for wall, _ in fresh), "s", goal=GOAL_S),
        Row("home with a database, start to the first answer", median(wall for wall, _ in again), "s", goal=GOAL_S),
        Row("new home, processor time until then", median(cpu for _, cpu in fresh), "s"),
        Row("home with a database, processor time until then", median(cpu for _, cpu in again), "s"),
    )
    return Result("start-up", size.rounds, rows)


def _start(github: StandIn, home: Path) -> tuple[float, float]:
    """Seconds from the start of the process to its answer, and the processor seconds that it used."""
    port = free_port()
    env = bot_environment(github, home, port, LOG_LEVEL="warning")
    began = time.perf_counter()
    with subprocess.Popen([sys.executable, "-m", "bot", "serve"], env=env, cwd=ROOT) as process:
        try:
            while not _answers(port):
                if process.poll() is not None:
                    raise RuntimeError("the server did not start")
                time.sleep(_POLL_S)
            wall = time.perf_counter() - began
            fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
            return wall, (int(fields[11]) + int(fields[12])) / _TICKS
        finally:
            process.terminate()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            return b" 200 " in connection.recv(100)
    except OSError:
        return False
