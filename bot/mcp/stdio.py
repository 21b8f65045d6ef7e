"""The stdio transport. The library reads stdin on a thread that cannot be interrupted, so a signal would end the
server only with the next line; here the thread is a daemon."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

_CHUNK = 65_536


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client on stdin and stdout until stdin ends or this is cancelled. Stray output goes to stderr."""
    try:
        async with stdio_server(stdin=cast("anyio.AsyncFile[str]", _lines(0))) as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())
    except* (BrokenPipeError, anyio.BrokenResourceError):
        pass  # the client has gone


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """The lines of a file descriptor, decoded; bytes that are no UTF-8 are replaced."""
    loop, chunks = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(descriptor, _CHUNK)
            except OSError:
                chunk = b""
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    threading.Thread(target=read, daemon=True, name="mcp-stdin").start()
    rest = bytearray()
    while chunk := await chunks.get():
        rest += chunk
        if b"\n" in chunk:
            *whole, last = rest.split(b"\n")
            rest = bytearray(last)
            for line in whole:
                yield line.decode("utf-8", "replace")
