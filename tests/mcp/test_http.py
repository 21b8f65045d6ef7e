"""`mendbot mcp --http` as a process: the token, the host names, the workspace roots."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.mcp.conditions import gone, written

TOKEN = "t" * 40
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def url(env: dict[str, str], repo: Path) -> Iterator[str]:
    """The address of a server whose workspace root is the repository's parent."""
    more = {"MENDBOT_ADMIN_TOKEN": TOKEN, "MENDBOT_WORKSPACE_ROOTS": str(repo.parent)}
    argv = [sys.executable, "-m", "bot", "mcp", "--http", "--port", "0", "--allowed-host", "mendbot.example"]
    with subprocess.Popen(argv, env={**env, **more}, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"url=(\S+)", process.stderr.readline())
        try:
            assert found is not None
            yield found[1]
        finally:
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=30)
        assert process.returncode == 0
        assert TOKEN not in err


def authorized() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)


async def test_it_serves_the_holder_of_the_token_and_nobody_else(url: str, repo: Path) -> None:
    """REQ-MCP-004."""
    async with authorized() as http, Client(streamable_http_client(url, http_client=http)) as client:
        arguments = {"worktree_path": str(repo), "checks": ["test"]}
        result = await client.call_tool("run_checks", arguments)
        assert result.structured_content is not None
        assert result.structured_content["passed"] is True
        outside = await client.call_tool("run_checks", {"worktree_path": "/etc", "checks": ["test"]})
        assert outside.is_error
    async with httpx2.AsyncClient() as http:
        wrong = {"Authorization": "Bearer " + "u" * 40}
        for headers in ({}, wrong, {"Authorization": TOKEN}):
            answer = await http.post(url, json=PING, headers=ACCEPT | headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_another_host_or_origin_is_refused(url: str) -> None:
    """REQ-MCP-004: a page in a browser reaches loopback by DNS rebinding."""
    async with authorized() as http:
        for headers, status in (
            ({"Host": "evil.example"}, 421),
            ({"Host": "localhost.evil.example"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Host": "mendbot.example", "Origin": "https://mendbot.example"}, 400),  # past both: no session yet
        ):
            answer = await http.post(url, json=PING, headers={**ACCEPT, **headers})
            assert answer.status_code == status, (headers, answer.text)


async def test_a_cancelled_check_ends_its_processes(url: str, repo: Path, slow_repo: Callable[[], int]) -> None:
    """REQ-MCP-002."""
    async with authorized() as http, Client(streamable_http_client(url, http_client=http)) as client:
        async with anyio.create_task_group() as calls:
            arguments = {"worktree_path": str(repo), "checks": ["test"]}
            calls.start_soon(client.call_tool, "run_checks", arguments)
            await written(repo / "started")
            calls.cancel_scope.cancel()
        assert await gone(slow_repo())
