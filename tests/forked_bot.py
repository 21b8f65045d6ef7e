"""The bot as processes that start at once: a process that has imported it forks for each.

Importing the bot takes most of a start. The forked process has its own environment, directory and output, and can be
killed like any other; `python -m bot` itself is started by `tests/cli/test_cli.py`, the demo and others."""

from __future__ import annotations

import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
LARGEST = 1 << 20
"""Bytes of a request: arguments and environment."""
IMPORTED_BEFORE_FORKING = (
    *("bot.cli", "bot.app.server", "bot.app.local_session"),
    *("alembic.command", "alembic.config", "aiosqlite", "anyio.streams.stapled", "dbos._sys_db_sqlite", "httpcore2"),
)
"""The bot, and what it imports when it is first needed."""
_ASKING = threading.Lock()


class ForkedBot:
    """One process, with what `subprocess.Popen` offers for a process without pipes."""

    def __init__(
        self,
        args: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path = ROOT,
        files: Sequence[int],
        module: str = "bot",
    ) -> None:
        """`files` are the descriptors of its input, output and errors; `module` is what `python -m` would run."""
        request = {"module": module, "args": list(args), "env": dict(env), "cwd": str(cwd)}
        self.pid = _ask(request, files)
        self._handle = os.pidfd_open(self.pid)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        return self._ended(0)

    def wait(self, timeout: float) -> int:
        """The exit code, once it has ended."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("bot", timeout)
        return code

    def _ended(self, seconds: float) -> int | None:
        if self.returncode is None and select.select([self._handle], [], [], seconds)[0]:
            os.close(self._handle)
            self.returncode = _ask({"ended": self.pid})
        return self.returncode


class BotCommand:
    """A command of the bot that has begun, with what `subprocess.Popen` offers; its output goes to files."""

    def __init__(self, *args: str, env: Mapping[str, str], cwd: Path = ROOT, stdin: bytes = b"") -> None:
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115  # see `outputs`
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            files = (given.fileno(), self._out.fileno(), self._err.fileno())
            self._bot = ForkedBot(args, env=env, cwd=cwd, files=files)
        self.pid = self._bot.pid

    @property
    def returncode(self) -> int | None:
        return self._bot.returncode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def outputs(self, timeout: float) -> tuple[bytes, bytes]:
        """What it printed on stdout and stderr, once it has ended; it is killed where that takes too long."""
        try:
            self._bot.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        with self._out as out, self._err as err:
            return _content(out), _content(err)

    def communicate(self, timeout: float) -> tuple[str, str]:
        """The same as text."""
        out, err = self.outputs(timeout)
        return out.decode(), err.decode()


def run_bot(
    *args: str, env: Mapping[str, str], cwd: Path = ROOT, stdin: bytes = b"", timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run a command of the bot to its end, as `subprocess.run` does."""
    command = BotCommand(*args, env=env, cwd=cwd, stdin=stdin)
    out, err = command.outputs(timeout)
    assert command.returncode is not None
    return subprocess.CompletedProcess(args, command.returncode, out, err)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _ask(request: Mapping[str, Any], files: Sequence[int] = ()) -> int:
    with _ASKING:
        parent = _parent()
        socket.send_fds(parent, [json.dumps(request).encode()], list(files))
        return int(json.loads(parent.recv(LARGEST)))


@functools.cache
def _parent() -> socket.socket:
    """The socket of the process that forks; it ends with the test process, when the socket is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], cwd=ROOT, start_new_session=True
    )
    theirs.close()
    return ours


def _fork_on_request(door: socket.socket) -> str:
    """Answer requests for ever. Returns in each forked process the module that it is to run.

    Those that still run end with the test process."""
    running: set[int] = set()
    while True:
        data, files, _, _ = socket.recv_fds(door, LARGEST, 3)
        if not data:
            for pid in running:
                os.kill(pid, signal.SIGKILL)  # not yet waited for, so the number is still theirs
            os._exit(0)
        request = json.loads(data)
        if "ended" in request:
            _, status = os.waitpid(request["ended"], 0)
            running.remove(request["ended"])
            door.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())
            continue
        pid = os.fork()
        if pid == 0:
            door.close()
            _become(request, files)
            return str(request["module"])
        running.add(pid)
        for file in files:
            os.close(file)
        door.send(json.dumps(pid).encode())


def _prepare() -> None:
    """Imports the bot, and builds the validators that its models build at first use."""
    for name in IMPORTED_BEFORE_FORKING:
        importlib.import_module(name)
    waiting = [importlib.import_module("pydantic").BaseModel]
    while waiting:
        models = waiting.pop().__subclasses__()
        waiting += models
        for model in models:
            model.model_rebuild(raise_errors=False)


def _become(request: Mapping[str, Any], files: Sequence[int]) -> None:
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv[1:] = request["args"]


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    _prepare()
    gc.freeze()  # no collection writes to what the processes share
    named = _fork_on_request(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(named, run_name="__main__", alter_sys=True)
