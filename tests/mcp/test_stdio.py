"""`mendbot mcp` as a process, used by the official client over stdio."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent

from tests.cli.commands import mendbot
from tests.mcp.conditions import gone, written

ISSUES = [{"number": n, "title": "broken", "body": "in src/app.py", "labels": []} for n in (4, 2)]


def server(env: dict[str, str], cwd: Path) -> Any:
    given = StdioServerParameters(command=sys.executable, args=["-m", "bot", "mcp"], env=env, cwd=cwd)
    return stdio_client(given)


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """The JSON of a call that was done; it is the same as text and as structured content."""
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.content[0], TextContent)
    assert json.loads(result.content[0].text) == result.structured_content
    return dict(result.structured_content or {})


async def test_each_tool_returns_the_json_of_its_command(repo: Path, env: dict[str, str], tmp_path: Path) -> None:
    """REQ-MCP-001: five tools, with the JSON that the commands print."""
    async with Client(server(env, repo)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == {"manage_worktree", "run_checks", "group_issues", "error_history", "record_resolution"}

        made = await call(client, "manage_worktree", action="create", issues=[2, 4])
        assert (made["success"], made["branch"]) == (True, "fix/issue-2-4")
        listed = mendbot("worktree", "list", "--repo", str(repo), "--json")
        assert await call(client, "manage_worktree", action="list") == json.loads(listed.stdout)

        grouped = mendbot("group", "--by", "file", "--json", stdin=json.dumps(ISSUES))
        assert await call(client, "group_issues", issues=ISSUES, group_by="file") == json.loads(grouped.stdout)

        (repo / "answer").write_text("41")
        checked = json.loads(mendbot("check", str(repo), "--max-attempts", "1", "--json", **env).stdout)
        answer = await call(client, "run_checks", worktree_path=str(repo), checks=["test"], max_attempts=1)
        for each in (*answer["results"], *checked["results"]):
            each["duration_ms"] = 0
        assert answer == checked
        assert answer["passed"] is False, "a failed check is a result, and no error of the tool"

        error = answer["results"][0]["error"]
        recorded = await call(
            client, "record_resolution", error=error, how="write 42", files=["answer"], tools=["Edit"]
        )
        assert recorded["id"] > 0
        known = json.loads(mendbot("history", "--error", error, "--json", **env).stdout)
        assert known["errors"][0]["resolution"]["how"] == "write 42"
        assert await call(client, "error_history", error=error) == known
        assert await call(client, "error_history", file="answer") == known


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_long_check_reports_progress_and_ends_when_it_is_cancelled(
    repo: Path, env: dict[str, str], slow_repo: Callable[[], int], mode: Literal["legacy", "auto"]
) -> None:
    """REQ-MCP-002: by the handshake of older clients, and by that of newer ones."""
    lines: list[str | None] = []
    async with Client(server(env, repo), mode=mode) as client, anyio.create_task_group() as calls:

        async def progress(_: float, __: float | None, message: str | None) -> None:
            lines.append(message)

        async def check() -> None:
            arguments = {"worktree_path": str(repo), "checks": ["test"]}
            await client.call_tool("run_checks", arguments, progress_callback=progress)

        calls.start_soon(check)
        await written(repo / "started")
        calls.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            assert await gone(slow_repo())
            assert (await client.list_tools()).tools, "it serves on"
    assert lines == ["test: running `python3 check.py`"]


@pytest.mark.parametrize("end", ["stdin", "signal"])
async def test_the_end_of_the_client_ends_what_it_started(
    repo: Path, env: dict[str, str], slow_repo: Callable[[], int], end: str
) -> None:
    """REQ-MCP-002: the children of a check end with the server, and only the protocol is on stdout."""
    argv = [sys.executable, "-m", "bot", "mcp"]
    process = subprocess.Popen(
        argv, cwd=repo, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    arguments = {"worktree_path": str(repo), "checks": ["test"]}
    messages = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "run_checks", "arguments": arguments}},
    ]
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()
    try:
        await written(repo / "started")
        if end == "signal":
            os.kill(process.pid, signal.SIGTERM)
            process.wait(20)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert await gone(slow_repo())
    assert process.returncode == 0
    assert [json.loads(line)["jsonrpc"] for line in out.splitlines()] in (["2.0"], ["2.0", "2.0"])
    assert b"Traceback" not in err
    assert not (repo / "check.py").read_text().startswith("print")
