"""Lets a command in the sandbox reach a few named hosts and nothing else (T15, T31).

The sandbox has no network. A proxy outside it listens on a Unix socket, which is mounted into the sandbox; a forwarder
inside (`forwarder.py`) offers it to the command as its HTTP proxy."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason

_MAX_HEAD = 64 * 1024
_HEAD_S = 30.0
_CONNECT_S = 20.0
_CHUNK = 64 * 1024
_DEFAULT_PORTS = {"http": 80, "https": 443}
_OK = b"HTTP/1.1 200 Connection established\r\n\r\n"
Pipe = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host and port that may be reached. `private`: its address may be a private one, not only a public one."""

    host: str
    port: int = 443
    private: bool = False


@dataclass(frozen=True, slots=True)
class NetworkFilter:
    """The hosts that one command may reach. `refused` collects each other `host:port` that it asked for, `failures`
    why an allowed host could not be reached."""

    allowed: tuple[AllowedHost, ...]
    refused: dict[str, None] = field(default_factory=dict)
    failures: dict[str, Reason] = field(default_factory=dict)

    def find(self, host: str, port: int) -> AllowedHost | None:
        """Returns the allowed host with this name and port, or None."""
        name = host.lower().rstrip(".").strip("[]")
        return next((each for each in self.allowed if each.host == name and each.port == port), None)


def host_of_url(url: str, *, allow_private: bool = False) -> AllowedHost | None:
    """Returns the host that a base URL names, or None where it names none.

    Private addresses are allowed for literal loopback, as everywhere, and where `allow_private` says so. Plain HTTP is
    bound to the same rule."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    if not host or port is None:
        return None
    private = allow_private or host == "localhost" or _is_loopback(host)
    return AllowedHost(host, port, private) if private or parts.scheme == "https" else None


@asynccontextmanager
async def serve_filter(network: NetworkFilter) -> AsyncIterator[Path]:
    """Yields the path of the Unix socket on which the proxy listens; the proxy ends with the block."""
    tasks: set[asyncio.Task[None]] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await _serve(network, (reader, writer))
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a client that goes away, or that does not speak HTTP
        except asyncio.CancelledError:
            pass  # the end of the block; asyncio would log it as a fault of this callback
        finally:
            tasks.discard(task)
            writer.close()

    with tempfile.TemporaryDirectory(prefix="mendbot-net-") as directory:
        path = Path(directory, "proxy.sock")
        server = await asyncio.start_unix_server(accept, path, limit=_MAX_HEAD)
        try:
            yield path
        finally:
            server.close()
            for task in tuple(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _serve(network: NetworkFilter, client: Pipe) -> None:
    """Answers one request: a tunnel for CONNECT, or one plain HTTP request to an absolute URL."""
    reader, writer = client
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _HEAD_S)
    request, _, headers = head.partition(b"\r\n")
    method, target, version = request.split(b" ")
    url = urlsplit((b"//" + target if method == b"CONNECT" else target).decode("ascii"))
    host, port = url.hostname or "", url.port or _DEFAULT_PORTS.get(url.scheme, 0)
    allowed = network.find(host, port)
    if allowed is None or (method != b"CONNECT" and url.scheme != "http"):
        network.refused[f"{host}:{port}"[:200]] = None
        writer.write(_answer(b"403 Forbidden", make_reason("network.refused", host=host)))
        return await _finish(writer)
    try:
        server = await _connect(allowed)
    except (OSError, TimeoutError) as error:
        network.failures[host] = make_reason("network.unreachable", host=host, error=str(error))
        writer.write(_answer(b"502 Bad Gateway", network.failures[host]))
        return await _finish(writer)
    if method == b"CONNECT":
        writer.write(_OK)
    else:
        path = (url.path or "/") + (f"?{url.query}" if url.query else "")
        server[1].write(b" ".join((method, path.encode(), version)) + b"\r\n" + _closing(headers))
    await _join(client, server)
    return None


def _closing(headers: bytes) -> bytes:
    """The headers with `Connection: close`, so that each plain request has a connection and a check of its own."""
    dropped = (b"connection:", b"proxy-connection:", b"keep-alive:", b"proxy-authorization:")
    lines = [line for line in headers.split(b"\r\n") if line and not line.lower().startswith(dropped)]
    return b"\r\n".join((*lines, b"Connection: close", b"", b""))


def _answer(status: bytes, why: Reason) -> bytes:
    body = f"mendbot: {english(why)}\n".encode()
    head = (b"HTTP/1.1 " + status, b"Content-Type: text/plain", b"Content-Length: %d" % len(body), b"Connection: close")
    return b"\r\n".join((*head, b"", body))


async def _finish(writer: asyncio.StreamWriter) -> None:
    await writer.drain()
    writer.write_eof()


async def _connect(allowed: AllowedHost) -> Pipe:
    """Connects to the host's first address that may be reached; raises OSError where it has none.

    The address that was examined is the one that is used, so a name cannot change its meaning between the two."""
    found = await asyncio.get_running_loop().getaddrinfo(allowed.host, allowed.port, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(str(each[4][0]) for each in found)
    failure = OSError(english(make_reason("network.no_address")))
    for address in addresses:
        if not (ipaddress.ip_address(address).is_global or _may_be_private(allowed, address)):
            continue
        try:
            return await asyncio.wait_for(asyncio.open_connection(address, allowed.port), _CONNECT_S)
        except OSError as error:
            failure = error
    raise failure


def _may_be_private(allowed: AllowedHost, address: str) -> bool:
    """Whether the operator's own API may have this address. Link-local ones are never an API: clouds answer there with
    the machine's credentials."""
    return allowed.private and not ipaddress.ip_address(address).is_link_local


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


async def _join(client: Pipe, server: Pipe) -> None:
    """Copies in both directions until the server has closed, or until both sides have."""
    upload = asyncio.create_task(_copy(client[0], server[1]))
    try:
        await _copy(server[0], client[1])
    finally:
        upload.cancel()
        await asyncio.gather(upload, return_exceptions=True)
        server[1].close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
