"""The real bot in a process of its own, set up as an operator would: by its environment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from bot import proc
from bot.errors import UserError
from demo.standin.server import StandIn

READY_S = 120.0
_STOP_S = 12.0
"""A little more than the ten seconds in which `serve` promises to end."""
_LIFE_S = 24 * 3600.0
_START = 'echo $$ >"$2" && exec "$0" -m bot serve >>"$1" 2>&1'


def free_port() -> int:
    """A port of 127.0.0.1 that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def bot_environment(github: StandIn, home: Path, port: int, **more: str) -> dict[str, str]:
    """The variables that make a bot serve this stand-in; the key lies in a file of its own beside `home`."""
    key = home.parent / "app.pem"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_text(github.private_key_pem, encoding="utf-8")
    root = {"MENDBOT_ALLOW_ROOT": "1"} if os.geteuid() == 0 else {}
    return {
        **os.environ,
        "APP_ID": str(github.app_id),
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": github.webhook_secret,
        "PORT": str(port),
        "MENDBOT_HOME": str(home),
        "MENDBOT_GITHUB_API_URL": github.api_url,
        "MENDBOT_GITHUB_URL": github.url,
        **root,
        **more,
    }


class BotProcess:
    """`mendbot serve` with these variables. Its log goes to `log`; leaving the context ends it."""

    def __init__(self, env: Mapping[str, str], log: Path) -> None:
        self._env = dict(env)
        self._log = log
        self._pid = log.with_suffix(".pid")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="bot-process", daemon=True)
        self._task: asyncio.Task[proc.ProcResult] | None = None
        self.url = f"http://127.0.0.1:{env['PORT']}"

    def __enter__(self) -> BotProcess:
        argv = ("sh", "-c", _START, sys.executable, str(self._log), str(self._pid))
        coroutine = proc.run(argv, cwd=self._log.parent, env=self._env, timeout_s=_LIFE_S)
        self._task = self._loop.create_task(coroutine)
        self._thread.start()
        try:
            self._wait_until_ready()
        except BaseException:  # Ctrl-C too: nothing may be left running
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_S
        while not self._answers():
            if not self.alive or time.monotonic() > deadline:
                raise UserError(f"the bot did not start; its log says:\n{self.said()}")
            self._thread.join(0.1)

    def _end(self) -> None:
        """SIGTERM, as a supervisor would; whatever that leaves is killed."""
        try:
            written = self._pid.read_text(encoding="ascii").strip() if self._pid.exists() else ""
            if written and self.alive:
                os.kill(int(written), signal.SIGTERM)
                self._thread.join(_STOP_S)
        finally:
            if self._task is not None:
                with contextlib.suppress(RuntimeError):  # the loop is closed, so it has ended by itself
                    self._loop.call_soon_threadsafe(self._task.cancel)
            self._thread.join()

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._thread.is_alive()

    def ask(self, path: str) -> Any:
        """The JSON that the bot answers to a GET. Raises OSError."""
        key = {"Authorization": f"Bearer {self._token()}"}
        request = urllib.request.Request(f"{self.url}{path}", headers=key)  # noqa: S310  # our own loopback
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            return json.load(answer)

    def look(self, path: str) -> str:
        """The command line by which a person sees the same."""
        token = "$MENDBOT_ADMIN_TOKEN" if self._env.get("MENDBOT_ADMIN_TOKEN") else f"$(cat {self._token_file})"
        return f'curl -H "Authorization: Bearer {token}" {self.url}{path}'

    def pages(self) -> str:
        """The address of the pages, and how a person signs in there."""
        token = "$MENDBOT_ADMIN_TOKEN" if self._env.get("MENDBOT_ADMIN_TOKEN") else self._token_file
        return f"{self.url}/ (sign in with the token of {token})"

    @property
    def _token_file(self) -> Path:
        return Path(self._env["MENDBOT_HOME"]) / "admin-token"

    def _token(self) -> str:
        return self._env.get("MENDBOT_ADMIN_TOKEN") or self._token_file.read_text(encoding="ascii").strip()

    def said(self, size: int = 4000) -> str:
        """The end of its log, in characters."""
        return self._log.read_text(encoding="utf-8", errors="replace")[-size:] if self._log.exists() else ""

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=2) as answer:  # noqa: S310  # our own loopback
                return bool(json.load(answer)["status"] == "ready")
        except (urllib.error.URLError, OSError, ValueError):
            return False

    def _run(self) -> None:
        assert self._task is not None
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            return
        finally:
            self._loop.close()
