"""The real bot in a process of its own, set up as an operator would: by its environment."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from bot import proc
from bot.demo.standin.server import StandIn
from bot.errors import UserError

READY_S = 30.0
_LIFE_S = 24 * 3600.0


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
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="bot-process", daemon=True)
        self._task: asyncio.Task[proc.ProcResult] | None = None
        self.url = f"http://127.0.0.1:{env['PORT']}"

    def __enter__(self) -> BotProcess:
        self._thread.start()
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline and self._thread.is_alive():
            if self._answers():
                return self
            self._thread.join(0.1)
        self.__exit__(None, None, None)
        said = self._log.read_text(encoding="utf-8")[-2000:] if self._log.exists() else ""
        raise UserError(f"the bot did not start; its log says:\n{said}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(15)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=2) as answer:  # noqa: S310  # our own loopback
                return bool(json.load(answer)["status"] == "ready")
        except (urllib.error.URLError, OSError, ValueError):
            return False

    def _run(self) -> None:
        argv = ("sh", "-c", 'exec "$0" -m bot serve >>"$1" 2>&1', sys.executable, str(self._log))
        coroutine = proc.run(argv, cwd=self._log.parent, env=self._env, timeout_s=_LIFE_S)
        self._task = self._loop.create_task(coroutine)
        try:
            self._loop.run_until_complete(self._task)
        except asyncio.CancelledError:
            return
        finally:
            self._loop.close()
