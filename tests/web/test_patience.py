"""Large bodies, slow clients, clients that leave, and a store that is busy: nobody makes the door wait for them."""

from __future__ import annotations

import logging
import select
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.machine import PATIENCE_S
from tests.web.conftest import HOOKS, Door, headers_for

BODY = b'{"action": "opened"}'
MIB = 1 << 20
LIMIT = 25 * MIB


@contextmanager
def connected(door: Door) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", door.port), timeout=PATIENCE_S) as client:
        yield client


def head(**headers: str | int) -> bytes:
    lines = [f"POST {HOOKS} HTTP/1.1", "Host: door", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def received(client: socket.socket) -> bytes:
    """Everything until the other side closes."""
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)


def test_26_mib_in_chunks_are_too_much_and_the_answer_arrives(door: Door) -> None:
    with connected(door) as client:
        client.sendall(head(Transfer_Encoding="chunked", Content_Type="application/json"))
        for _ in range(26):
            client.sendall(b"100000\r\n" + bytes(MIB) + b"\r\n")
        client.sendall(b"0\r\n\r\n")
        assert received(client).startswith(b"HTTP/1.1 413 ")
    assert door.rows() == []


def test_a_declared_length_over_the_limit_is_refused_before_the_body_is_read(door: Door) -> None:
    with connected(door) as client:
        client.sendall(head(Content_Length=LIMIT + 1, Content_Type="application/json"))
        assert client.recv(65536).startswith(b"HTTP/1.1 413 ")  # who waits for the body says 408 in the end


def test_who_sends_too_much_all_the_same_still_gets_the_answer(door: Door) -> None:
    with connected(door) as client:
        client.sendall(head(Content_Length=LIMIT + 1, Content_Type="application/json"))
        for _ in range(25):
            client.sendall(bytes(MIB))
        client.sendall(b"x")
        assert received(client).startswith(b"HTTP/1.1 413 ")


def answer_of(client: socket.socket) -> bytes:
    """All that comes before the server closes: head and body may come apart."""
    answer = b""
    with suppress(ConnectionResetError):
        while piece := client.recv(65536):
            answer += piece
    return answer


def test_bodies_without_a_signature_cannot_fill_the_memory_together(door: Door) -> None:
    clients = [socket.create_connection(("127.0.0.1", door.port), timeout=PATIENCE_S) for _ in range(6)]
    try:
        for client in clients:
            client.sendall(head(Content_Length=LIMIT, Content_Type="application/json"))
        for _ in range(24):
            for client in clients:
                with suppress(OSError):  # the one that was refused
                    client.sendall(bytes(MIB))
        refused, _, _ = select.select(clients, [], [], PATIENCE_S)
        answers = [answer_of(client) for client in refused]
        assert len(answers) == 1
        assert answers[0].startswith(b"HTTP/1.1 503 ")
        assert b"too many" in answers[0]
        assert door.post(BODY).status == 202  # one that comes whole is not held back
    finally:
        for client in clients:
            client.close()
    body = b'{"a": "' + b"x" * 20 * MIB + b'"}'
    deadline = time.monotonic() + PATIENCE_S
    while (status := door.post(body, headers_for(body, "large")).status) == 503 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert status == 202


@pytest.mark.parametrize("value", ["-1", "1e3", "99999999999999999999999999", "+5", "5, 6"])
def test_a_strange_length_is_a_refusal_and_no_fault(door: Door, value: str) -> None:
    with connected(door) as client:
        client.sendall(head(Content_Length=value, Content_Type="application/json"))
        assert client.recv(65536)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 413")


@pytest.mark.parametrize(("extra", "status"), [(0, 202), (1, 413)])
def test_the_limit_is_25_mib_to_the_byte(door: Door, extra: int, status: int) -> None:
    body = b'{"a": "' + b"x" * (LIMIT - 9 + extra) + b'"}'
    assert len(body) == LIMIT + extra
    assert door.post(body).status == status


def test_two_hundred_slow_clients_are_gone_in_ten_seconds_and_delay_nobody(door: Door) -> None:
    slow = [socket.create_connection(("127.0.0.1", door.port), timeout=PATIENCE_S) for _ in range(200)]
    stop = threading.Event()
    closed: dict[int, float] = {}
    began = time.monotonic()

    def drip() -> None:
        # a third says nothing, a third sends its headers byte by byte, a third its body
        texts = [b"", head(X_Padding="y" * 100), b"{" + b" " * 100]
        for number, client in enumerate(slow):
            if number % 3 == 2:
                client.sendall(head(Content_Length=101, Content_Type="application/json"))
            client.setblocking(False)
        for second in range(int(PATIENCE_S)):
            for number, client in enumerate(slow):
                if number in closed:
                    continue
                try:
                    if text := texts[number % 3]:
                        client.send(text[second : second + 1])
                    while data := client.recv(4096):
                        assert data.startswith(b"HTTP/1.1 408 ")
                except BlockingIOError:
                    continue
                except OSError:
                    pass
                closed[number] = time.monotonic() - began
            if len(closed) == len(slow) or stop.wait(1):
                return

    thread = threading.Thread(target=drip)
    thread.start()
    for number in range(8):
        assert door.post(BODY, headers_for(BODY, f"good-{number}")).status == 202
        assert len(closed) < 200, "it was answered when all the others were gone"
        stop.wait(0.1)
    thread.join(PATIENCE_S)
    stop.set()
    for client in slow:
        client.close()
    assert len(closed) == 200, f"{200 - len(closed)} are still connected"
    assert max(closed.values()) < 60  # ten seconds, where nothing else wants the processor


def test_a_client_that_goes_away_leaves_no_trace_in_the_log(
    door: Door, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    signed = headers_for(BODY, "gone")
    partial = "".join(f"{name}: {value}\r\n" for name, value in signed.items())
    with caplog.at_level(logging.WARNING):
        for sent in (
            b"",
            b"POST /api/github/webhooks HT",
            head(Content_Length=1000) + b"{",
            head(Transfer_Encoding="chunked") + b"5\r\n{",
            head(Content_Length=1000, Expect="100-continue"),
            f"POST {HOOKS} HTTP/1.1\r\nHost: door\r\n{partial}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY,
        ):
            for reset in (False, True):
                with connected(door) as client:
                    client.sendall(sent)
                    if reset:  # RST instead of FIN
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        assert door.post(BODY).status == 202
        time.sleep(0.3)
    assert [record.getMessage() for record in caplog.records] == []
    assert "Traceback" not in "".join(capfd.readouterr())


def test_what_is_no_http_is_told_so_and_leaves_no_traceback(door: Door, capfd: pytest.CaptureFixture[str]) -> None:
    for nonsense in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET\r\n\r\n", b"\0" * 4096):
        with connected(door) as client:
            client.sendall(nonsense)
            assert client.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_store_locked_for_three_seconds_costs_nobody_a_delivery(door: Door) -> None:
    with locked(door):
        timer = threading.Timer(3, lambda: None)
        timer.start()
        answers: list[int] = []
        posting = threading.Thread(target=lambda: answers.append(door.post(BODY).status))
        posting.start()
        timer.join()
    posting.join(10)
    assert answers == [202]


def test_a_store_locked_for_longer_is_503_and_mends_by_itself(door: Door) -> None:
    with locked(door):
        answer = door.post(BODY)
        assert answer.status == 503
        assert "locked" in answer.json["error"]
        assert door.get("/api/deliveries").status == 200
    assert door.post(BODY).json["status"] == "accepted"


@contextmanager
def locked(door: Door) -> Iterator[None]:
    lock = sqlite3.connect(door.home / "mendbot.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        lock.execute("ROLLBACK")
        lock.close()
