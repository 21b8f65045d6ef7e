"""A command in the sandbox reaches the hosts that it is granted, through the proxy alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.model import ShellCommand
from bot.proc import ProcResult
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.network_filter import AllowedHost, NetworkFilter, host_of_url, serve_filter
from bot.workspace.sandbox.sandbox import Sandbox

_REQUEST = """
import os, sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(urllib.request.Request(url, data=b"question"), timeout=10).read().decode())
    except urllib.error.HTTPError as error:
        print(error.code)
    except OSError as error:
        print(type(error).__name__)
"""


@asynccontextmanager
async def api() -> AsyncIterator[int]:
    """An HTTP server on loopback that answers with the head of the request; yields its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(8)
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + head.splitlines()[0] + b" " + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def ask(box: Sandbox, tree: Path, network: NetworkFilter | None, *urls: str) -> ProcResult:
    command = ShellCommand(run=("python3", "-c", _REQUEST, *urls), timeout_s=30)
    return await box.run(command, tree, grant=SandboxGrant(reach=network))


async def test_the_granted_host_is_reached_and_no_other(box: Sandbox, tree: Path) -> None:
    async with api() as port, api() as other:
        network = NetworkFilter((AllowedHost("127.0.0.1", port, private=True),))
        urls = (f"http://127.0.0.1:{port}/v1?x=1", f"http://127.0.0.1:{other}/v1")
        result = await ask(box, tree, network, *urls)
    assert result.output.decode().splitlines() == ["POST /v1?x=1 HTTP/1.1 question", "403"]
    assert list(network.refused) == [f"127.0.0.1:{other}"]


async def test_past_the_proxy_nothing_is_reached(box: Sandbox, tree: Path) -> None:
    async with api() as port:
        network = NetworkFilter((AllowedHost("127.0.0.1", port, private=True),))
        command = ShellCommand(
            run=("python3", "-c", f"import socket; socket.create_connection(('127.0.0.1', {port}))"), timeout_s=30
        )
        result = await box.run(command, tree, grant=SandboxGrant(reach=network))
    assert result.exit_code == 1
    assert b"ConnectionRefusedError" in result.output


async def test_the_commands_exit_code_and_stdin_are_its_own(box: Sandbox, tree: Path) -> None:
    grant = SandboxGrant(reach=NetworkFilter(()))
    result = await box.run(
        ShellCommand(run=("sh", "-c", "cat; exit 7"), timeout_s=30), tree, grant=grant, stdin=b"prompt"
    )
    assert (result.exit_code, result.output) == (7, b"prompt")


async def test_a_tunnel_carries_bytes_both_ways(tmp_path: Path) -> None:
    async with api() as port, serve_filter(NetworkFilter((AllowedHost("127.0.0.1", port, private=True),))) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(b"POST / HTTP/1.1\r\n\r\nquestion")
        assert (await reader.read()).endswith(b"POST / HTTP/1.1 question")
        writer.close()


@pytest.mark.parametrize(
    ("allowed", "status"),
    [
        (AllowedHost("localhost"), b"502"),
        (AllowedHost("169.254.169.254", private=True), b"502"),
        (AllowedHost("example.com"), b"403"),
        (AllowedHost("localhost", 80), b"403"),
    ],
    ids=["a private address", "a cloud's metadata", "another host", "another port"],
)
async def test_what_may_not_be_reached_is_answered_with_the_reason(allowed: AllowedHost, status: bytes) -> None:
    """A name with a private address could lead to services of this machine (T31)."""
    target = "169.254.169.254" if allowed.host.startswith("169") else "localhost"
    async with serve_filter(NetworkFilter((allowed,))) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(f"CONNECT {target}:443 HTTP/1.1\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
    assert answer.split()[1] == status
    assert b"mendbot: " in answer


@pytest.mark.parametrize("request_", [b"nonsense\r\n\r\n", b"CONNECT a:b HTTP/1.1\r\n\r\n", b"\xff \xff \xff\r\n\r\n"])
async def test_a_broken_request_ends_its_own_connection_alone(request_: bytes) -> None:
    async with serve_filter(NetworkFilter(())) as path:
        for _ in range(2):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(request_)
            assert await reader.read() == b""
            writer.close()


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://api.example.com/v1", AllowedHost("api.example.com", 443)),
        ("https://api.example.com.:8443", AllowedHost("api.example.com", 8443)),
        ("http://127.0.0.1:8080/v1", AllowedHost("127.0.0.1", 8080, private=True)),
        ("http://localhost:8080", AllowedHost("localhost", 8080, private=True)),
        ("http://[::1]:8080", AllowedHost("::1", 8080, private=True)),
        ("http://api.example.com", None),
        ("https://", None),
        ("https://a:b", None),
        ("ftp://host", None),
    ],
)
def test_a_base_url_names_a_host(url: str, host: AllowedHost | None) -> None:
    """Plain HTTP is for loopback alone, as for GitHub's API."""
    assert host_of_url(url) == host


def test_the_operator_may_allow_private_addresses() -> None:
    assert host_of_url("http://models.lan", allow_private=True) == AllowedHost("models.lan", 80, private=True)


async def test_hidden_files_and_directories_are_empty_for_the_command(box: Sandbox, tree: Path) -> None:
    (tree / ".tool").mkdir()
    (tree / ".tool" / "settings.json").write_text("{}")
    (tree / "tool.json").write_text('{"run": "this"}')
    (tree / "real").mkdir()
    (tree / "real" / "file").touch()
    (tree / "link").symlink_to("real")
    (tree / "circle").symlink_to("circle")
    (tree / "outside").symlink_to("/usr")
    names = (".tool", "tool.json", "link", "circle", "outside", "missing")
    grant = SandboxGrant(hidden=tuple(tree / name for name in names))
    script = "ls -A .tool real; cat tool.json; test -d /usr/bin && echo usr"
    result = await box.run(ShellCommand(run=("sh", "-c", script), timeout_s=30), tree, grant=grant)
    assert result.output.decode().split() == [".tool:", "real:", "{}", "usr"]
    assert (tree / "tool.json").read_text() == '{"run": "this"}'
