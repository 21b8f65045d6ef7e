"""Server processes under measurement: ours and the references, each started alone, found in /proc, and ended.

A server's family is known by a mark in its environment, so that its children's time and memory count too."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from bot import proc
from demo.bot_process import BotProcess, bot_environment, free_port
from demo.standin.server import StandIn

ROOT = Path(__file__).resolve().parent.parent
REFERENCES = Path(__file__).parent / "references"
MARK = "MENDBOT_BENCH_MARK"
_START_S = 30.0
_LIFE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Usage:
    """A family's processor seconds since its start, and its resident memory now."""

    cpu_s: float
    rss_mb: float


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `mark` tells its processes from all others."""

    port: int
    mark: str

    def usage(self) -> Usage:
        ticks, pages = 0, 0
        for pid in _family(self.mark):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
                pages += int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended while we looked
            ticks += int(fields[11]) + int(fields[12])
        return Usage(ticks / os.sysconf("SC_CLK_TCK"), pages * os.sysconf("SC_PAGE_SIZE") / 1e6)


def _family(mark: str) -> list[int]:
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue  # it ended, or is somebody else's
    return found


class Child:
    """A reference process that listens on a port: ready when it accepts a connection, ended with its family."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], port: int, cwd: Path) -> None:
        self._argv, self._env, self._port, self._cwd = argv, env, port, cwd
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[proc.ProcResult] | None = None
        self._thread = threading.Thread(target=self._run, name="reference", daemon=True)

    def __enter__(self) -> Child:
        self._thread.start()
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._thread.is_alive():
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return self
            except OSError:
                self._thread.join(0.1)
        self.__exit__(None, None, None)
        said = self._task.result().output if self._task and self._task.done() and not self._task.cancelled() else b""
        raise RuntimeError(f"{self._argv[0]} did not start listening: {said.decode(errors='replace')[-2000:]}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(15)

    def _run(self) -> None:
        coroutine = proc.run(self._argv, cwd=self._cwd, env=self._env, timeout_s=_LIFE_S)
        self._task = self._loop.create_task(coroutine)
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            return
        finally:
            self._loop.close()


@contextmanager
def reference(argv: Sequence[str], cwd: Path, **env: str) -> Iterator[Server]:
    """A reference server that reads its port from PORT."""
    server = Server(free_port(), secrets.token_hex(8))
    variables = {"PATH": os.environ["PATH"], "PORT": str(server.port), MARK: server.mark, **env}
    with Child(argv, variables, server.port, cwd):
        yield server


@contextmanager
def python_reference(name: str, **env: str) -> Iterator[Server]:
    """One of `benchmarks/references/*.py`, on this interpreter."""
    with reference((sys.executable, str(REFERENCES / f"{name}.py")), ROOT, **env) as server:
        yield server


@contextmanager
def bot(github: StandIn, home: Path, **env: str) -> Iterator[Server]:
    """`mendbot serve` as an operator starts it, with a home on disk."""
    server = Server(free_port(), secrets.token_hex(8))
    variables = bot_environment(github, home, server.port, LOG_LEVEL="warning", **{MARK: server.mark}, **env)
    with BotProcess(variables, home.parent / f"{home.name}.log"):
        yield server
