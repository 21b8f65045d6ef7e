"""Two faces of sessions as programs use them: HTTP on a real `serve`, and `mendbot fix` as a process."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.e2e.processes import arguments
from tests.e2e.server import Server
from tests.e2e.session_projects import LONG, Doc
from tests.forked_bot import ROOT, BotCommand, run_bot
from tests.machine import PATIENCE_S

TOKEN = "an-admin-token-of-the-tests"


def until(ready: Callable[[], bool], why: Callable[[], str] = str) -> None:
    """Ask now and then, so that what is waited for has the processor; `why` tells more where it does not come."""
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline, f"not within {PATIENCE_S} s:\n{why()}"
        time.sleep(0.05)


def sleepers() -> int:
    """How many processes sleep on behalf of the test that runs."""
    return arguments("sleep", str(LONG))


class Client:
    """A program that talks to a server."""

    def __init__(self, bot: Server) -> None:
        self.bot = bot

    def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        """Status code and JSON, or text where the answer is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self.bot.port, timeout=PATIENCE_S)
        try:
            sent = None if body is None else json.dumps(body)
            told = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **headers}
            connection.request(method, path, sent, told)
            answer = connection.getresponse()
            text = answer.read().decode()
            plain = "json" not in (answer.getheader("Content-Type") or "")
            return answer.status, text if plain else json.loads(text)
        finally:
            connection.close()

    def start(self, asked: Doc) -> str:
        """Begin a session; its id."""
        status, session = self.ask("POST", "/api/sessions", asked)
        assert status == 201, session
        assert session["status"] in ("queued", "running")
        return str(session["id"])

    def session(self, session_id: str, part: str = "") -> Any:
        status, found = self.ask("GET", f"/api/sessions/{session_id}{part}")
        assert status == 200, found
        return found

    def ended(self, session_id: str) -> Doc:
        """The session with its events and artifacts, once it has ended."""
        self.until(lambda: self.session(session_id)["status"] in ("success", "failed", "cancelled"))
        parts = {name: self.session(session_id, f"/{name}") for name in ("events", "artifacts")}
        return {**self.session(session_id), **parts}

    def until_event(self, session_id: str, kind: str) -> Doc:
        """The first event of a type, as soon as it is there."""
        found: list[Doc] = []

        def look() -> bool:
            found[:] = [event for event in self.session(session_id, "/events") if event["type"] == kind]
            return bool(found)

        self.until(look)
        return found[0]

    def until_session(self, session_id: str, ready: Callable[[Doc], bool]) -> None:
        self.until(lambda: ready(self.session(session_id)))

    def until(self, ready: Callable[[], bool]) -> None:
        until(ready, self.bot.tail)

    def stream(self, session_id: str, after: int | None = None) -> Iterator[Doc]:
        """The events as they come by server-sent events, until the server ends the stream."""
        headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "text/event-stream"}
        if after is not None:
            headers["Last-Event-ID"] = str(after)
        connection = http.client.HTTPConnection("127.0.0.1", self.bot.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", f"/api/sessions/{session_id}/events", headers=headers)
            answer = connection.getresponse()
            assert answer.getheader("Content-Type", "").startswith("text/event-stream")
            lines: dict[str, str] = {}
            for raw in answer:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if name:
                    lines[name] = value
                elif lines:
                    event = json.loads(lines["data"])
                    assert (lines["id"], lines["event"]) == (str(event["id"]), event["type"])
                    yield event
                    lines = {}
        finally:
            connection.close()


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Of a `mendbot fix` that knows of no App."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MENDBOT_")}
    return {**own, "MENDBOT_HOME": str(home), **variables}


def fix_argv(asked: Doc, *more: str) -> list[str]:
    """The arguments of a request."""
    argv = ["fix", "--repo", asked["repo"], "--task", asked["task"], "--max-attempts", str(asked.get("maxAttempts", 3))]
    for option, name in (
        ("--file", "filePaths"),
        ("--validation-command", "validationCommands"),
        ("--agent", "agents"),
    ):
        for value in asked.get(name, ()):
            argv += [option, value]
    if "candidates" in asked:
        argv += ["--candidates", str(asked["candidates"])]
    if "testCommand" in asked:
        argv += ["--test-command", asked["testCommand"]]
    return [*argv, *more]


def start_fix(asked: Doc, home: Path, *more: str) -> BotCommand:
    """`mendbot fix`, begun."""
    return BotCommand(*fix_argv(asked, *more), env=environment(home))


def run_command(*args: str, env: Mapping[str, str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command of the bot to its end, as text."""
    done = run_bot(*args, env=env, cwd=cwd, timeout=PATIENCE_S)
    return subprocess.CompletedProcess(args, done.returncode, done.stdout.decode(), done.stderr.decode())


def fix(asked: Doc, home: Path) -> tuple[int, Doc]:
    """`mendbot fix --json`: its exit code and its one document."""
    done = run_bot(*fix_argv(asked, "--json"), env=environment(home), timeout=PATIENCE_S)
    assert (done.returncode in (0, 1), done.stderr) == (True, b"")
    return done.returncode, json.loads(done.stdout)


def ended(process: BotCommand, said: str = "") -> tuple[int, Doc]:
    """The exit code and the one document of a `mendbot fix --json`, which has said on stderr what is `said` alone."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (0, 1), err
    assert err == said
    return process.returncode, json.loads(out)


def refused(asked: Mapping[str, Any], home: Path) -> str:
    """What `mendbot fix` says of a request that it refuses with exit code 2."""
    done = run_bot(*fix_argv(dict(asked)), env=environment(home), timeout=PATIENCE_S)
    assert (done.returncode, done.stdout) == (2, b""), done
    assert done.stderr.count(b"\n") == 1
    return done.stderr.decode()
