"""The running bot's door: real payloads of every kind, bodies without end, a store that is locked or full."""

from __future__ import annotations

import json
import re
import resource
import socket
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from demo.standin.server import StandIn
from tests.e2e.conftest import RIGHT, agent, assert_mended_once, label, wait_for_label
from tests.e2e.server import Server
from tests.machine import PATIENCE_S
from tests.oracle.webhooks import examples

Serve = Callable[..., Server]

NAMES = ("__class__", "__init__", "issues__", "nothing_like_it", "constructor")
MIB = 1 << 20


def test_every_payload_that_github_ever_published_ends_with_a_because(github: StandIn, serve: Serve) -> None:
    bot = serve()
    sent = [(name, json.dumps(payload).encode()) for name, payload in examples()]
    sent += [(name, b'{"action": "created", "sender": null}') for name in NAMES]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda item: bot.deliver(*item[1], f"guid-{item[0]}"), enumerate(sent)))
    assert Counter(answers) == {(202, "accepted"): len(sent)}
    rows = bot.settled(len(sent))
    assert len(sent) > 329
    assert {row["status"] for row in rows} <= {"done", "ignored", "failed"}
    assert all(row["because"] for row in rows)
    faults = [row for row in rows if "fault of Mendbot" in str(row["because"])]
    assert not faults
    assert "Traceback" not in bot.tail(10**7)
    assert bot.get("/readyz")[0] == 200


def test_hostile_values_in_a_payload_end_in_a_because_too(github: StandIn, serve: Serve) -> None:
    bot = serve()
    kinds = {name for name, _ in examples()}
    real = [next(payload for name, payload in examples() if name == kind) for kind in sorted(kinds)]
    strange: list[object] = [None, 7, -1, 2**70, [], {}, "", "\ud800", "\0", "a" * 100_000, "../..", "-x", True, 1e400]
    sent = []
    for name, payload in (("issues", payload) for payload in real if "issue" in payload):
        for number, value in enumerate(strange):
            spoilt = dict(payload) | {"action": ("labeled", "closed")[number % 2], "label": {"name": value}}
            key = ("issue", "repository", "sender", "installation", "label")[number % 5]
            spoilt[key] = value if number % 3 else {"id": value, "number": value, "full_name": value, "login": value}
            sent.append((name, json.dumps(spoilt).encode().replace(b"Infinity", b"1e400")))
    answers = {bot.deliver(*item, f"guid-{number}") for number, item in enumerate(sent)}
    assert answers == {(202, "accepted")}
    assert all(row["because"] for row in bot.settled(len(sent)))
    assert "Traceback" not in bot.tail(10**7)


def test_a_body_without_end_costs_little_memory(github: StandIn, serve: Serve) -> None:
    bot = serve()
    before = memory(bot, "VmRSS")
    with socket.create_connection(("127.0.0.1", bot.port), timeout=PATIENCE_S) as client:
        client.sendall(b"POST /webhook HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(26):
            client.sendall(b"100000\r\n" + bytes(MIB) + b"\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")
    assert memory(bot, "VmHWM") - before < 40 * MIB


def memory(bot: Server, field: str) -> int:
    status = Path(f"/proc/{bot.pid}/status").read_text()
    found = re.search(rf"^{field}:\s+(\d+) kB$", status, re.M)
    assert found
    return int(found[1]) * 1024


@contextmanager
def locked(bot: Server) -> Iterator[None]:
    """Another process's transaction that writes."""
    lock = sqlite3.connect(bot.home / "mendbot.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        lock.execute("ROLLBACK")
        lock.close()


def test_a_store_that_is_locked_for_twelve_seconds_stops_nothing_for_good(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-processing")
    with locked(bot):
        until = time.monotonic() + 12
        assert bot.deliver("star", b"{}", "while-locked")[0] == 503
        assert bot.get("/readyz")[0] == 200  # it reads, and it can be reached
        while time.monotonic() < until:
            time.sleep(0.1)
    assert bot.deliver("star", b"{}", "while-locked") == (202, "accepted")
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    bot.because("'star'")
    assert "Traceback" not in bot.tail(10**7)


def test_a_disk_that_is_full_is_503_and_mends_by_itself(github: StandIn, serve: Serve) -> None:
    bot = serve()
    assert bot.deliver("star", b"{}", "before") == (202, "accepted")
    bot.because("'star'")
    _, hard = resource.prlimit(bot.pid, resource.RLIMIT_FSIZE)
    largest = max(path.stat().st_size for path in bot.home.glob("*.db*"))
    resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, (largest, hard))
    big = b'{"padding": "' + b"x" * (largest + MIB) + b'"}'
    assert bot.deliver("star", big, "too-much")[0] == 503
    assert bot.get("/readyz")[0] == 200
    resource.prlimit(bot.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, hard))
    assert bot.deliver("star", big, "too-much") == (202, "accepted")
    bot.settled(2)
    bot.kill()
    bot.start()
    assert bot.deliver("star", big, "too-much") == (202, "duplicate")
    with sqlite3.connect(bot.home / "mendbot.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_hundred_copies_with_a_kill_between_are_one_run(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    github.world.hold_webhooks()  # the copies come by hand
    number = label(github)
    payload = github.world.deliveries[-1].payload
    answers: list[tuple[int, str]] = []

    def storm() -> None:
        with ThreadPoolExecutor(25) as pool:
            answers.extend(pool.map(lambda _: bot.deliver("issues", payload, "one-guid"), range(100)))

    thread = threading.Thread(target=storm)
    thread.start()
    while not answers_any(bot) and thread.is_alive():
        time.sleep(0.001)
    bot.kill()
    thread.join()
    bot.start()
    storm()
    assert {code for code, _ in answers} <= {0, 202}
    assert [status for _, status in answers].count("accepted") <= 1
    assert answers[-1] == (202, "duplicate")
    wait_for_label(github, number, "auto-fix-done")
    assert_mended_once(github, number)
    with sqlite3.connect(bot.home / "mendbot.db") as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def test_one_event_under_two_ids_is_one_run(github: StandIn, serve: Serve) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    github.world.hold_webhooks()
    number = label(github)
    payload = github.world.deliveries[-1].payload
    for guid in ("from-the-app", "from-the-repository"):
        assert bot.deliver("issues", payload, guid) == (202, "accepted")
    wait_for_label(github, number, "auto-fix-processing")
    assert bot.deliver("issues", payload, "late") == (202, "accepted")
    wait_for_label(github, number, "auto-fix-done")
    bot.settled(3)
    assert_mended_once(github, number)
    with sqlite3.connect(bot.home / "mendbot.db") as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (1,)


def answers_any(bot: Server) -> bool:
    """Whether the storm has reached the disk."""
    with sqlite3.connect(f"file:{bot.home / 'mendbot.db'}?mode=ro", uri=True) as database:
        return bool(database.execute("SELECT 1 FROM deliveries").fetchone())
