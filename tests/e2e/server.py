"""The bot as a process that a test can kill, stop and start again on the same home."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
import urllib.error
import urllib.request
from pathlib import Path

from demo.bot_process import bot_environment
from demo.standin.server import StandIn
from demo.standin.webhooks import signature
from tests.forked_bot import ForkedBot
from tests.machine import PATIENCE_S, kept_port


class Server:
    """`mendbot serve`; `kill` is SIGKILL, `stop` SIGTERM. `start` may be called again after either."""

    def __init__(self, github: StandIn, root: Path, **variables: str) -> None:
        self.home = root / "home"
        self.log = root / "bot.log"
        self.args = ["serve"]
        self.port = kept_port()
        self.url = f"http://127.0.0.1:{self.port}"
        defaults = {"MENDBOT_QUIET_SECONDS": "0.3", "MENDBOT_WRITE_SPACING_SECONDS": "0"}
        self.env = bot_environment(github, self.home, self.port, **{**defaults, **variables})
        self._process: ForkedBot | None = None
        github.world.set_webhook_url(f"{self.url}/api/github/webhooks")

    def start(self) -> Server:
        with self.log.open("ab") as log, Path(os.devnull).open("rb") as nothing:
            self._process = ForkedBot(self.args, env=self.env, files=(nothing.fileno(), log.fileno(), log.fileno()))
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise AssertionError(f"the bot ended with {self._process.returncode}:\n{self.tail()}")
            if self.get("/readyz")[0] == 200:
                return self
            time.sleep(0.05)
        raise AssertionError(f"the bot was not ready within {PATIENCE_S} s:\n{self.tail()}")

    @property
    def token(self) -> str:
        """As a program on this machine finds it; empty before the first start."""
        path = self.home / "admin-token"
        return self.env.get("MENDBOT_ADMIN_TOKEN") or (path.read_text().strip() if path.exists() else "")

    def get(self, path: str) -> tuple[int, object]:
        request = urllib.request.Request(f"{self.url}{path}", headers={"Authorization": f"Bearer {self.token}"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, None
        except OSError:
            return 0, None

    def deliver(self, event: str, payload: bytes, guid: str, timeout_s: float = PATIENCE_S) -> tuple[int, str]:
        """Post a webhook as GitHub would; the answer's status code and its `status`. (0, "") if there is no answer."""
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": event,
            "X-GitHub-Delivery": guid,
            "X-Hub-Signature-256": signature(self.env["WEBHOOK_SECRET"], payload),
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        try:
            connection.request("POST", "/api/github/webhooks", payload, headers)
            answer = connection.getresponse()
            return answer.status, json.load(answer).get("status", "")
        except (OSError, http.client.HTTPException, ValueError):
            return 0, ""
        finally:
            connection.close()

    def settled(self, count: int, timeout_s: float = PATIENCE_S) -> list[dict[str, object]]:
        """The newest `count` deliveries, once none of them waits or is being processed."""
        deadline = time.monotonic() + timeout_s
        rows: list[dict[str, object]] = []
        while time.monotonic() < deadline:
            _, answer = self.get(f"/api/deliveries?limit={count}")
            rows = answer if isinstance(answer, list) else []
            if len(rows) == count and not {"accepted", "processing"} & {str(row["status"]) for row in rows}:
                return rows
            time.sleep(0.2)
        raise AssertionError(f"{len(rows)} deliveries, not all settled within {timeout_s} s:\n{self.tail()}")

    def because(self, text: str, timeout_s: float = PATIENCE_S) -> str:
        """The because of the delivery whose because contains `text`, once there is one."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            _, rows = self.get("/api/deliveries")
            for row in rows if isinstance(rows, list) else []:
                if text in row["because"]:
                    return str(row["because"])
            time.sleep(0.05)
        raise AssertionError(f"no delivery's because has {text!r} within {timeout_s} s:\n{self.tail()}")

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait(PATIENCE_S)

    def stop(self) -> int:
        """SIGTERM, and the exit code. The promise is ten seconds; what fails the test is a bot that waits for its work,
        on a machine that may be busy."""
        assert self._process is not None
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGTERM)
        return self._process.wait(60)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def tail(self, size: int = 6000) -> str:
        return self.log.read_text(errors="replace")[-size:] if self.log.exists() else ""
